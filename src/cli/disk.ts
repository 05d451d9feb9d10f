// What can be seen of a home's file system without the daemon: whether it is read-only, and how to change that.
import type { DiskTrouble } from "../wire/rpc/rpc.ts";
import type { FileSystem, Machine } from "../world/machine.ts";

/** Undefined if the home can be written, or nothing is known about its file system. */
export function readOnlyDisk(machine: Machine, home: string): DiskTrouble | undefined {
  const found = machine.fileSystem(home);
  if (found?.readOnly !== true) return undefined;
  return { code: "EROFS", operation: "mount", path: found.mount, hint: remountHint(found), since: null };
}

export function remountHint({ mount, source }: FileSystem): string {
  return [
    `${source} is mounted read-only on ${mount}. \`dmesg\` says why, if it was not intended; then:`,
    `mount -o remount,rw ${mount}`,
  ].join(" ");
}
