// The disk below the home: whether the daemon's writes succeed, and whether its file system is fit to keep a home.
// DF1. The daemon knows about failed writes that left no trace on the disk; without a daemon there is nothing to ask.
// DF2. A home needs what POSIX promises: a rename that replaces at once, and a sync that reaches the disk. File systems
//      that do not keep these promises are unsupported (docs/RUNBOOK.md).

import { dial } from "../../home/dial.ts";
import { within } from "../../world/wait.ts";
import { remountHint } from "../disk.ts";
import { type Finding, fine, problem, type Site, warning } from "./check.ts";

/** A healthy daemon answers at once. */
const ANSWER_MS = 3_000;
/** DF2. Why each is unsupported, by its type. */
const UNSUPPORTED: readonly (readonly [type: RegExp, why: string])[] = [
  [
    /^(?:nfs4?|cifs|smb3?|smbfs|afs|ceph|lustre|glusterfs|ocfs2|gfs2)$/,
    "locks, renames and syncs depend on another machine",
  ],
  [
    /^(?:9p|v9fs|drvfs|virtiofs|vboxsf|vmhgfs|prl_fs)$/,
    "it is a directory of another system, whose syncs may not reach the disk",
  ],
  [/^fuse(?:blk)?(?:\.|$)/, "a program decides what a rename and a sync do"],
  [/^(?:vfat|msdos|fat|exfat|ntfs3?|hfs|hfsplus)$/, "it has no atomic rename, no permissions, or no hard links"],
];
const READS: Readonly<Record<string, string>> = { read: "read", list: "read" };
const MEMORY = /^(?:tmpfs|ramfs)$/;

export async function checkDisk({ world, home }: Site): Promise<Finding[]> {
  const line = await dial(world, home);
  if (!line.ok || line.value === undefined) return [fine("disk", "no daemon answers that could know")]; // DF1
  const status = await within(world.clock, ANSWER_MS, line.value.call("status", {}));
  line.value.close();
  const trouble = status?.ok === true ? status.value.disk : undefined;
  if (!trouble) return [fine("disk", "the daemon can write")];
  const { operation, path, code, since, hint } = trouble;
  const why = `${operation} ${path}: ${code}${since === null ? "" : `, since ${since}`}`;
  return [problem("disk", { what: `the daemon cannot ${READS[operation] ?? "write"}`, why, next: hint })];
}

export async function checkFileSystem({ machine, home }: Site): Promise<Finding[]> {
  const found = machine.fileSystem(home);
  if (found === undefined) return [fine("file-system", "unknown")];
  const { mount, type, source, readOnly } = found;
  const what = `${type} on ${mount} (${source})`;
  const fails = "nothing can be written, and Holdfast cannot start";
  if (readOnly) return [problem("file-system", { what: `${what} is read-only`, why: fails, next: remountHint(found) })];
  const next = "Move the home to a local disk, with HOLDFAST_HOME";
  if (MEMORY.test(type)) return [warning("file-system", { what, why: "it is empty after a reboot", next })];
  const why = unsupportedText(type);
  if (why !== undefined) return [problem("file-system", { what: `${what} is not supported`, why, next })]; // DF2
  return [fine("file-system", what)];
}

/** DF2. Why a file system of this type cannot keep a home; undefined if it can. */
export function unsupportedText(type: string): string | undefined {
  return UNSUPPORTED.find(([kind]) => kind.test(type))?.[1];
}
