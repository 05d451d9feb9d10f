// The file that runs us: Bun, or our single binary, which has all our programs inside (scripts/binary.ts).
// RT1. A running program starts others of its own version, even if its file was replaced or removed since: the kernel
//      keeps a file for as long as it runs.
import { statSync } from "node:fs";

/** Nothing else in it is looked up on a disk. */
export const IS_BINARY = Bun.isStandaloneExecutable;

/** As in the names of our binaries. */
export const PLATFORM = `${process.platform}-${process.arch}`;

/** What runs in the process that looks at it, by whatever name. */
export const OWN_EXECUTABLE = "/proc/self/exe";

/**
 * What an upgrade adds to the name of the version that it replaces (home/upgrade.ts), and the kernel to that of a file
 * that was removed.
 */
const NOT_INSTALLED = /(?:\.next|\.replaced|\.previous)?(?: \(deleted\))?$/;

/** The name under which we are installed, which may be another version's by now. */
export function runtimeFile(): string {
  return IS_BINARY ? process.execPath.replace(NOT_INSTALLED, "") : process.execPath;
}

/** RT1. Only for children that we start ourselves. */
export function ownRuntime(): string {
  const path = runtimeFile();
  return !IS_BINARY || isSame(path, OWN_EXECUTABLE) ? path : OWN_EXECUTABLE;
}

function isSame(path: string, other: string): boolean {
  const [one, two] = [path, other].map((at) => statSync(at, { throwIfNoEntry: false }));
  return one !== undefined && one.ino === two?.ino && one.dev === two.dev;
}
