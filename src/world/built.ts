// Where a program of ours lies in one file with its bytecode (scripts/build.ts): it starts in a fraction of the time that its sources need.
// BU1. It is what its sources say: by their change times, which nobody can set back. A copied, unpacked or checked out source counts as changed.
// BU2. It is for the place where it was made, whose paths are in it: one that was moved along with its sources is out of date.
// BU3. What is out of date is taken out of the launcher's way, who then makes it anew; what cannot be told is out of date.
// BU4. What was loaded before us (`--preload`) wants to see the sources.
// This file is read before any program runs, and imports none of ours.
import { readFileSync, statSync, unlinkSync } from "node:fs";
import { resolve } from "node:path";

/** `root`: of the installation. `builtMs`: a change time from before the first source was read. `sources`: paths below the root. */
export type Built = { readonly root: string; readonly builtMs: number; readonly sources: readonly string[] };

export const PROGRAMS = ["cli", "daemon", "watchdog", "web"] as const;
/** The newest build, below the installation's root; in it a folder for each program, with these two files. */
export const NEWEST = ".built/now";
export const BUILT_FILE = "main.js";
export const BUILT_FROM = "sources.json";

const ROOT = resolve(import.meta.dir, "../..");

/** The file of `program`, where there is one that is up to date. */
export function builtProgram(program: (typeof PROGRAMS)[number]): string | undefined {
  if (process.execArgv.includes("--preload")) return undefined; // BU4
  const folder = `${ROOT}/${NEWEST}/${program}`;
  if (isUpToDate(folder)) return `${folder}/${BUILT_FILE}`;
  takeAway(`${ROOT}/${NEWEST}`); // BU3
  return undefined;
}

/** False: there is none, or it is not ours to take away. */
function takeAway(link: string): boolean {
  try {
    unlinkSync(link);
    return true;
  } catch {
    return false;
  }
}

function isUpToDate(folder: string): boolean {
  try {
    if (statSync(`${folder}/${BUILT_FILE}`).size === 0) return false;
    const built: Built = JSON.parse(readFileSync(`${folder}/${BUILT_FROM}`, "utf8"));
    if (built.root !== ROOT) return false; // BU2
    return built.sources.every((source) => statSync(`${ROOT}/${source}`).ctimeMs < built.builtMs); // BU1
  } catch {
    return false; // BU3
  }
}
