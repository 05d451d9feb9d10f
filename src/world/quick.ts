// How the program that the launcher starts goes on: with the bundle of a frequent command, or with the command line's
// entry, which finds the whole program (built.ts). It runs before any program and loads nothing.
// QU1. A bundle runs only if what it was made of has the size and the modification time that it had then: in a checkout
//      every source, of which such a bundle has a hundred or two. In the npm package there is nothing else to run.
// QU2. The change time, which all other programs compare (BU1), cannot be had without node:fs. Loading that takes most
//      of the time of an empty program. So a source that got back its old time and size looks unchanged here.
// QU3. A bundle contains the paths of the place where it was built: one that was moved is not current.

import { IS_PACKAGE } from "./root.ts";

/** `root`: the root of the installation. `sources`: paths below it. */
export type QuickFrom = {
  readonly root: string;
  readonly sources: readonly (readonly [path: string, modifiedMs: number, bytes: number])[];
};

/** Each program has a folder in the build, with these two files. */
export const BUILT_FILE = "main.js";
export const BUILT_FROM = "sources.json";
/** It is there, below the root, while the newest build is known to be outdated. */
export const OUTDATED = ".built/outdated";

/** The root of the installation, the folder of its builds, the build, and the folder of this program. */
const [, ROOT = "", BUILD = ""] = /^(.*)(\/[^/]+\/[^/]+)\/[^/]+\/[^/]+$/.exec(Bun.main) ?? [];

/** Of a file, or of a folder: that changes if something is created, renamed or removed in it. */
export function looksNow(path: string): readonly [modifiedMs: number, bytes: number] {
  const { lastModified, size } = Bun.file(path);
  return [lastModified, size];
}

/** Whether the program of this name in our own build is current (QU1). If not, the launcher is asked to build. */
export function isCurrent(program: string): boolean {
  if (IS_PACKAGE) return true; // QU1
  try {
    const text = new TextDecoder().decode(Bun.mmap(`${ROOT}${BUILD}/${program}/${BUILT_FROM}`));
    const { root, sources }: QuickFrom = JSON.parse(text);
    const current = root === ROOT && sources.every(isAsItWas); // QU3
    if (!current) markOutdated(ROOT);
    return current;
  } catch {
    return false; // It cannot be checked.
  }
}

function isAsItWas([path, modifiedMs, bytes]: QuickFrom["sources"][number]): boolean {
  const now = looksNow(`${ROOT}/${path}`);
  return now[0] === modifiedMs && now[1] === bytes;
}

/** Throws if it is not ours to mark. */
export function markOutdated(root: string): void {
  const { closeSync, openSync }: typeof import("node:fs") = require("node:fs");
  closeSync(openSync(`${root}/${OUTDATED}`, "a"));
}

/** While its first file waits, Bun reports what nothing has caught, but does not end: it would go on for ever. */
export function endOnErrors(report: (error: unknown) => void): void {
  const end = (error: unknown) => {
    report(error);
    process.exit(1);
  };
  process.on("uncaughtException", end).on("unhandledRejection", end);
}

/** Runs another program of our own build in this process, which ends with it. */
export function goOnAs(program: string): Promise<never> {
  require(`${ROOT}${BUILD}/${program}/${BUILT_FILE}`);
  return new Promise(() => undefined);
}

export function goOnAsWhole(): Promise<never> {
  require(`${ROOT}/src/cli/main.ts`);
  return new Promise(() => undefined);
}
