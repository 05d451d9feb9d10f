// What agents tried and may not do, for the operator: daemon, holders and commands append to `recovery/attempts.jsonl`.
// AT1. It is bounded: a full file becomes the old one, whose predecessor is dropped. An agent that tries again and
//      again must not fill the disk.
// AT2. It is a note, not a log: it is not synced, and if it cannot be written, the refusal stands all the same.
import { isFault } from "../base/fault.ts";
import { isRecord, jsonIn } from "../base/json.ts";
import { joinPath } from "../base/path.ts";
import type { Caller, Principal } from "../core/principal.ts";
import { openRetrying, readWhole, writeAll } from "../log/file/file.ts";
import type { Disk } from "../world/disk.ts";
import { ATTEMPTS } from "./layout.ts";

/** Some hundred attempts: more say nothing new. */
const MAX_BYTES = 64 << 10;

export type NotedAttempt = { readonly caller: Caller; readonly did: string; readonly at: string };

/** AT2. The directory is there as soon as a home was started. */
export function noteAttempt(disk: Disk, home: string, { caller, did, at }: NotedAttempt): void {
  const path = joinPath(home, ATTEMPTS);
  try {
    if ((disk.stat(path)?.size ?? 0) > MAX_BYTES) disk.rename(path, `${path}.1`); // AT1
    const file = openRetrying(disk, path, "create");
    try {
      writeAll(file, Buffer.from(`${JSON.stringify({ v: 1, at, did, ...caller })}\n`), file.size());
    } finally {
      file.close();
    }
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}

/** Those since `sinceMs`, oldest first. Lines that are not readable are left out. */
export function attemptsSince(disk: Disk, home: string, sinceMs: number): NotedAttempt[] {
  const path = joinPath(home, ATTEMPTS);
  return [`${path}.1`, path]
    .flatMap((file) => new TextDecoder().decode(readWhole(disk, file, 2 * MAX_BYTES)).split("\n"))
    .flatMap((line) => attemptIn(line) ?? [])
    .filter(({ at }) => Date.parse(at) >= sinceMs);
}

function attemptIn(line: string): NotedAttempt | undefined {
  const found = jsonIn(line);
  if (!isRecord(found)) return undefined;
  const { at, did, principal, agent, cli, pid, exe, tty } = found;
  if (typeof at !== "string" || typeof did !== "string") return undefined;
  const caller: Caller = {
    principal: principalIn(principal),
    ...(typeof agent === "string" && { agent }),
    ...(typeof cli === "string" && { cli }),
    pid: typeof pid === "number" ? pid : null,
    exe: typeof exe === "string" ? exe : null,
    tty: typeof tty === "string" ? tty : null,
  };
  return { at, did, caller };
}

function principalIn(value: unknown): Principal {
  return value === "agent" || value === "operator" ? value : "unknown";
}
