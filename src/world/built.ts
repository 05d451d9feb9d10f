// Where a program of ours lies in one file with its bytecode (scripts/build.ts): it starts in a fraction of the time that its sources need.
// BU1. It is what its sources say: each has the change time that it had when it was read, and those nobody can choose. A copied, unpacked or
//      checked out source counts as changed.
// BU2. It is for the place where it was made, whose paths are in it: one that was moved along with its sources is out of date.
// BU3. What is out of date is taken out of the launcher's way, who then makes it anew; what cannot be told is out of date. Whoever is just
//      starting from it goes on: it has looked behind the link.
// BU4. What was loaded before us (`--preload`) wants to see the sources.
// This file is read before any program runs, and imports none of ours.
import { readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";

/** `root`: of the installation. `sources`: paths below it, each with its change time. */
export type Built = {
  readonly root: string;
  readonly sources: readonly (readonly [path: string, changedMs: number])[];
};

export const PROGRAMS = ["cli", "daemon", "watchdog", "web"] as const;
/** The newest build, below the installation's root; in it a folder for each program, with these two files. */
export const NEWEST = ".built/now";
export const BUILT_FILE = "main.js";
export const BUILT_FROM = "sources.json";

const ROOT = resolve(import.meta.dir, "../..");

/** The file of `program`, where there is one that is up to date. */
export function builtProgram(program: (typeof PROGRAMS)[number]): string | undefined {
  if (process.execArgv.includes("--preload")) return undefined; // BU4
  try {
    const folder = `${realpathSync(`${ROOT}/${NEWEST}`)}/${program}`; // BU3
    if (isUpToDate(folder)) return `${folder}/${BUILT_FILE}`;
    rmSync(`${ROOT}/${NEWEST}`, { recursive: true }); // BU3. Recursive: whoever copied it may have made a directory of the link.
  } catch {
    return undefined; // There is none, or it is not ours to take away.
  }
  return undefined;
}

function isUpToDate(folder: string): boolean {
  try {
    if (statSync(`${folder}/${BUILT_FILE}`).size === 0) return false;
    const built: Built = JSON.parse(readFileSync(`${folder}/${BUILT_FROM}`, "utf8"));
    if (built.root !== ROOT) return false; // BU2
    return built.sources.every(([source, changedMs]) => statSync(`${ROOT}/${source}`).ctimeMs === changedMs); // BU1
  } catch {
    return false; // BU3
  }
}
