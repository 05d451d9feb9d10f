// Finds a program of ours as one bundled file (scripts/build.ts), which starts much faster than its sources.
// BU1. A bundle is current only if every source still has the change time it had when it was read. That time cannot be
//      set, so a source that was copied, unpacked or checked out again counts as changed.
// BU2. A bundle contains the paths of the place where it was built: one that was moved along with its sources is
//      outdated.
// BU3. An outdated bundle, or one that cannot be checked, is removed so that the launcher builds a new one. A program
//      that is just starting from it continues, because it has already resolved the link.
// BU4. With `--preload` the sources are used: what was preloaded needs to see them.
// This file runs before any program and imports nothing of ours.
import { readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";

/** `root`: the root of the installation. `sources`: paths below it, each with its change time. */
export type BuiltFrom = {
  readonly root: string;
  readonly sources: readonly (readonly [path: string, changedMs: number])[];
};

/** Those that are built, with their entries. */
export const PROGRAMS = {
  cli: "src/cli/program.ts",
  daemon: "src/daemon/program.ts",
  watchdog: "src/watchdog/program.ts",
  web: "src/web/program.ts",
  relay: "src/relay/program.ts",
  screen: "src/screen/program.ts",
  search: "src/search/program.ts",
  holder: "src/holder/main.ts",
  orders: "src/holder/orders-main.ts",
} as const;
export type Built = keyof typeof PROGRAMS;

/** A holder is copied into each home and runs many times over: memory counts, and bytecode takes more of it. */
export function isHolder(program: Built): program is "holder" | "orders" {
  return program === "holder" || program === "orders";
}

/** CommonJS: the same program takes 150 KiB less memory than as a module. */
export const HOLDER_BUNDLE = { target: "bun", format: "cjs", minify: true } as const;

/**
 * A holder's bundle without private names, of which the engine keeps a table for each function of a class: 250 KiB in
 * each holder. They were checked in the sources. Unchanged if a class might have two of one name, or if what looks
 * like a private name might be text.
 */
export function withoutPrivateNames(text: string): string {
  const mayBeText = /(?<![.{};*]|\b(?:async|get|set|static))#[A-Za-z_$]/;
  if (mayBeText.test(text) || /\bextends (?!Error\b)/.test(text)) return text;
  return text.replace(/(\w?)#(?=[A-Za-z_$])/g, (_, before: string) => (before === "" ? "$" : `${before} $`));
}

/** The newest build, below the installation's root. It has a folder for each program, with these two files. */
export const NEWEST = ".built/now";
export const BUILT_FILE = "main.js";
export const BUILT_FROM = "sources.json";

const ROOT = resolve(import.meta.dir, "../..");

/** The bundle of `program`, if there is a current one. */
export function builtProgram(program: Built): string | undefined {
  if (process.execArgv.includes("--preload")) return undefined; // BU4
  try {
    const folder = `${realpathSync(`${ROOT}/${NEWEST}`)}/${program}`; // BU3
    if (isUpToDate(folder)) return `${folder}/${BUILT_FILE}`;
    // BU3. Recursive, because a copy may have turned the link into a directory.
    rmSync(`${ROOT}/${NEWEST}`, { recursive: true });
  } catch {
    return undefined; // There is none, or it is not ours to remove.
  }
  return undefined;
}

function isUpToDate(folder: string): boolean {
  try {
    if (statSync(`${folder}/${BUILT_FILE}`).size === 0) return false;
    const built: BuiltFrom = JSON.parse(readFileSync(`${folder}/${BUILT_FROM}`, "utf8"));
    if (built.root !== ROOT) return false; // BU2
    return built.sources.every(([source, changedMs]) => statSync(`${ROOT}/${source}`).ctimeMs === changedMs); // BU1
  } catch {
    return false; // BU3
  }
}
