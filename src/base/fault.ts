// Fault: the disk, the network or the system failed. Thrown by `world/`, caught once per program.
// An expected "no" is a Refusal instead (see result.ts); a bug of our own is a failed assertion.

/** Where it happened and the system's error code; `hint` tells a person what to do about it. */
export type FaultFacts = {
  readonly code: string;
  readonly operation: string;
  readonly path: string;
  readonly hint?: string;
};

export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: string;
  readonly operation: string;
  readonly path: string;
  readonly hint: string;

  constructor(facts: FaultFacts, cause?: unknown) {
    super(`${facts.operation} ${facts.path}: ${facts.code}`, { cause });
    this.code = facts.code;
    this.operation = facts.operation;
    this.path = facts.path;
    this.hint = facts.hint ?? HINTS[facts.code] ?? "Run `holdfast log verify` to see what is on disk.";
  }
}

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "The disk is full. Free some space; nothing that was acknowledged is lost.",
  EDQUOT: "The disk quota is used up. Free some space; nothing that was acknowledged is lost.",
  EROFS: "The file system is read-only. Remount it for writing, then start again.",
  EIO: "The disk failed to read or write. Check its health (dmesg, smartctl), then start again.",
  EAGAIN: "The system allows no more processes. End some, or raise the limit (ulimit -u, or pids.max of the cgroup).",
  ENOMEM: "The system has no memory to spare. End some programs, or raise the limit.",
  EMFILE: "Too many open files. Raise the limit (ulimit -n), then try again.",
  ENFILE: "The system has too many open files. Close some programs, then try again.",
  EACCES: "Permission denied. The home must belong to the user who runs holdfast.",
};

/** What the disk or the system refuses now, and may allow a moment later. */
const OF_THE_DISK = ["EIO", "EROFS", "ENOSPC", "EDQUOT", "ESTALE"] as const;
const OF_THE_SYSTEM = ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EINTR"] as const;

export function mayPass(error: unknown): error is Fault {
  return isFault(error, ...OF_THE_DISK, ...OF_THE_SYSTEM);
}

export function isFault(error: unknown, ...codes: readonly string[]): error is Fault {
  return error instanceof Fault && (codes.length === 0 || codes.includes(error.code));
}
