// What lies in the directory of a holder on pipes: what it is to do, and how its life is known when nobody can be asked.
// F1. No claim is the one state in which it may be started. An exit is its end; a claim without one whose holder is gone is a loss:
//     it was started, and may have done anything.
// F2. A holder that was told to leave ended its program before its time: that end says nothing about the work.
// F3. Everything above a directory is durable before a holder is started in it: a claim that a power cut takes along would be no claim.

import { joinPath } from "../../base/path.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { createExclusive } from "../../log/file/exclusive-file.ts";
import { makeDirectories, readWhole } from "../../log/file/file.ts";
import { parseClaim, parseExit, parseSpec } from "../../wire/holder/json.ts";
import { type HolderClaim, type HolderSpec, PROTOCOL } from "../../wire/holder/protocol.ts";
import type { Disk } from "../../world/disk.ts";
import type { ProcessIdentity } from "../../world/process.ts";
import type { HomeWorld } from "./holder-files.ts";

/** One generation: what is held is started once, and the next one has another directory. */
const GENERATION = 1;
/** Holders want one; on pipes it means nothing. */
const SIZE = { cols: 80, rows: 24 };

export type OnDisk =
  | { readonly kind: "unclaimed" }
  | { readonly kind: "prevented" }
  | { readonly kind: "ended"; readonly code: number | null; readonly signal: string | null }
  /** F2 */
  | { readonly kind: "stopped" }
  /** `holder`: who claimed it, where that one lives. */
  | { readonly kind: "claimed"; readonly holder: ProcessIdentity | undefined; readonly bootId: string | undefined };

/** F1 */
export function readHeld({ disk, processes }: HomeWorld, directory: string): OnDisk {
  const ended = readEnd(disk, directory);
  if (ended !== undefined) return ended;
  const bytes = readWhole(disk, joinPath(directory, "claim.json")); // Once: it may be made at any moment.
  if (bytes === undefined) return { kind: "unclaimed" };
  const claim = parseClaim(bytes);
  if (claim?.by === "cancel") return { kind: "prevented" };
  if (claim !== undefined && processes.alive(claim)) return { kind: "claimed", holder: claim, bootId: claim.bootId };
  // It may have left its exit after the first look and before it was gone; what it left is final now.
  return readEnd(disk, directory) ?? { kind: "claimed", holder: undefined, bootId: claim?.bootId };
}

function readEnd(disk: Disk, directory: string): OnDisk | undefined {
  const bytes = readWhole(disk, joinPath(directory, "exit.json"));
  const exit = bytes === undefined ? undefined : parseExit(bytes);
  if (exit === undefined) return undefined;
  return exit.stopped === true ? { kind: "stopped" } : { kind: "ended", code: exit.code, signal: exit.signal };
}

/** Who claimed it, as far as can be read. */
export function readClaim(disk: Disk, directory: string): HolderClaim | undefined {
  const bytes = readWhole(disk, joinPath(directory, "claim.json"));
  return bytes === undefined ? undefined : parseClaim(bytes);
}

export function readHeldSpec(disk: Disk, directory: string): HolderSpec | undefined {
  const bytes = readWhole(disk, joinPath(directory, "holder.json"));
  const spec = bytes === undefined ? undefined : parseSpec(bytes);
  return spec?.ok === true ? spec.value : undefined;
}

export type Held = Pick<HolderSpec, "id" | "argv" | "cwd" | "env" | "token" | "socket" | "tape">;

/** What the holder is to do; durable when it resolves (F3). */
export async function writeHeld({ disk, home }: HomeWorld, directory: string, held: Held): Promise<void> {
  await makeHeldDirectory(disk, home, directory);
  await writeAtomic(disk, joinPath(directory, "holder.json"), Buffer.from(`${JSON.stringify(specOf(held))}\n`));
}

export function specOf(held: Held): HolderSpec {
  return { v: PROTOCOL, generation: GENERATION, mode: "pipe", size: SIZE, ...held };
}

/** F3 */
export async function makeHeldDirectory(disk: Disk, home: string, directory: string): Promise<void> {
  for (const parent of makeDirectories(disk, directory, home)) await disk.syncDirectory(parent);
}

/** Makes the claim ourselves, so that a holder which comes late finds it and starts nothing. False where one was there. */
export async function preventHeld({ disk, clock, processes, home }: HomeWorld, directory: string): Promise<boolean> {
  const { pid } = processes;
  const claim: HolderClaim = {
    v: PROTOCOL,
    generation: GENERATION,
    by: "cancel",
    pid,
    startTime: processes.startTime(pid) ?? 0,
    bootId: processes.bootId(),
    at: new Date(clock.now()).toISOString(),
  };
  await makeHeldDirectory(disk, home, directory);
  const text = Buffer.from(`${JSON.stringify(claim)}\n`);
  return createExclusive(disk, joinPath(directory, "claim.json"), text, String(pid));
}
