// Line coverage from lcov: the lines that ran, out of all lines.
// L1. A file that no test ever loaded counts as 0; bun's own report leaves it out and so looks better than it is.
// L2. A file that compiles to nothing (types only) has no lines: it can neither help nor hurt.
import { dirname } from "node:path";
import type { SourceFile } from "./files.ts";

export type Coverage = { readonly path: string; readonly hit: number; readonly lines: number };

/** Hits by line, by file. Several reports of one file are added up. */
export function parseLcov(lcov: string): Map<string, Map<number, number>> {
  const files = new Map<string, Map<number, number>>();
  let current = new Map<number, number>();
  for (const line of lcov.split("\n")) {
    if (line.startsWith("SF:")) {
      current = files.get(line.slice(3)) ?? new Map();
      files.set(line.slice(3), current);
    }
    const [, at, hits] = /^DA:(\d+),(\d+)/.exec(line) ?? [];
    if (at !== undefined) current.set(Number(at), (current.get(Number(at)) ?? 0) + Number(hits));
  }
  return files;
}

/** `compile` gives the JavaScript that is left of a file. */
export function measure(sources: readonly SourceFile[], lcov: string, compile: (ts: string) => string): Coverage[] {
  const reported = parseLcov(lcov);
  return sources.map(({ path, text }) => {
    const lines = reported.get(path);
    if (lines === undefined) return { path, hit: 0, lines: hasCode(compile(text)) ? codeLines(text) : 0 }; // L1, L2
    return { path, hit: [...lines.values()].filter((hits) => hits > 0).length, lines: lines.size };
  });
}

/** Whether anything but imports and empty exports is left. */
function hasCode(javascript: string): boolean {
  return javascript.replace(/^\s*(?:import\b[^;]*;?|export\s*\{[^}]*\}[^;\n]*;?)\s*$/gm, "").trim() !== "";
}

function codeLines(text: string): number {
  const bare = text.replace(/\/\*[\s\S]*?\*\//g, "").split("\n");
  return bare.filter((line) => line.trim() !== "" && !line.trim().startsWith("//")).length;
}

export function percent(of: readonly Coverage[]): number {
  const lines = of.reduce((sum, file) => sum + file.lines, 0);
  return lines === 0 ? 100 : (100 * of.reduce((sum, file) => sum + file.hit, 0)) / lines;
}

/** One line for each room (directory under src/) and one for the total. */
export function toTable(files: readonly Coverage[]): string {
  const rooms = Map.groupBy(files, (file) => dirname(file.path).split("/").slice(0, 2).join("/"));
  const head = `${"room".padEnd(14)} files   lines   covered`;
  return [head, ...[...rooms].map(([room, of]) => tableRow(room, of)), tableRow("total", files)].join("\n");
}

function tableRow(room: string, of: readonly Coverage[]): string {
  const lines = of.reduce((sum, file) => sum + file.lines, 0);
  const counts = `${String(of.length).padStart(5)} ${String(lines).padStart(7)}`;
  return `${room.padEnd(14)} ${counts} ${percent(of).toFixed(1).padStart(7)} %`;
}
