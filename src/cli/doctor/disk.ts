// The disk below the home: whether the daemon's writes succeed, and whether its file system is fit to keep a home.
// DF1. The daemon knows about failed writes that left no trace on the disk; without a daemon there is nothing to ask.

import { dial } from "../../home/dial.ts";
import { within } from "../../world/wait.ts";
import { remountHint } from "../disk.ts";
import { type Finding, fine, problem, type Site, warning } from "./check.ts";

/** A healthy daemon answers at once. */
const ANSWER_MS = 3_000;
/** Their locks or syncs depend on another machine. */
const NETWORK = /^(?:nfs4?|cifs|smb3?|9p|afs|ceph|fuse\.(?:sshfs|glusterfs|s3fs|rclone))$/;
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
  if (NETWORK.test(type))
    return [warning("file-system", { what, why: "locks and syncs may not hold over a network", next })];
  return [fine("file-system", what)];
}
