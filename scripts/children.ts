// The coverage of our programs that tests start as processes of their own: laid out before the tests, added to Bun's lcov after them.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { COUNTED, countedPath, counterName, hitsPath } from "./counted-files.ts";
import { withCounters } from "./counters.ts";
import { isTest, readAll, type SourceFile } from "./files.ts";
import { parseLcov } from "./lcov.ts";

export type Ran = { readonly path: string; readonly owners: ReadonlyMap<number, number>; readonly hits: Uint8Array };

function sources(): SourceFile[] {
  return readAll("src/**/*.ts").filter(({ path }) => !isTest(path) && !path.endsWith(".d.ts"));
}

/** Writes every source with its counters, all at zero. Gives what tells, after the tests, which lines ran. */
export function layCounters(): () => Ran[] {
  rmSync(COUNTED, { recursive: true, force: true });
  const laid = sources().map(({ path, text }) => {
    const counted = withCounters(text, counterName(path));
    mkdirSync(dirname(countedPath(path)), { recursive: true });
    // Byte 0 says that the file was loaded; a file of types alone is loaded without a trace.
    writeFileSync(countedPath(path), `${counterName(path)}[0]=1;${counted.text}`);
    writeFileSync(hitsPath(path), new Uint8Array(counted.units));
    return { path, owners: counted.owners };
  });
  return () => laid.map((file) => ({ ...file, hits: readFileSync(hitsPath(file.path)) }));
}

/** The report with the lines that ran in children: what Bun counted stays, and its lines stay the lines where it has any. */
export function addRan(lcov: string, ran: readonly Ran[]): string {
  const files = parseLcov(lcov);
  for (const { path, owners, hits } of ran) {
    if (hits[0] === 0) continue;
    const lines = files.get(path) ?? new Map([...owners.keys()].map((line) => [line, 0]));
    files.set(path, lines);
    for (const [line, count] of lines) if (hits[owners.get(line) ?? -1] === 1) lines.set(line, count + 1);
  }
  return [...files].map(([path, lines]) => toRecord(path, lines)).join("");
}

function toRecord(path: string, lines: ReadonlyMap<number, number>): string {
  const found = [...lines].sort(([a], [b]) => a - b).map(([line, count]) => `DA:${line},${count}`);
  const hit = [...lines.values()].filter((count) => count > 0).length;
  return [`SF:${path}`, ...found, `LF:${lines.size}`, `LH:${hit}`, "end_of_record", ""].join("\n");
}
