// What lies in a terminal's directory, and what it says about its life when nobody can be asked.
// F1. An exit is an end, and so is a cancelled start. Any other claim without an exit, whose holder is gone, is uncertain: it was
//     started, and may have done anything; also a claim that cannot be read. No claim is the one state in which it may be started.

import { joinPath } from "../../base/path.ts";
import type { Ending, Recipe } from "../../core/terminal/terminal.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { createExclusive } from "../../log/file/exclusive-file.ts";
import { makeDirectories, readWhole } from "../../log/file/file.ts";
import { parseClaim, parseExit, parseSpec } from "../../wire/holder/json.ts";
import { type HolderClaim, type HolderExit, type HolderSpec, PROTOCOL } from "../../wire/holder/protocol.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import type { Processes, ProcessIdentity } from "../../world/process.ts";

export type HomeWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly processes: Processes;
  readonly home: string;
};

const EXIT = "exit.json";

/** What a shell says of a command that it could not start. */
export const COULD_NOT_START = 127;

export type OnDisk =
  | { readonly kind: "unclaimed" }
  /** `holder`: who claimed it, where that one lives. */
  | { readonly kind: "claimed"; readonly holder: ProcessIdentity | undefined; readonly bootId: string | undefined }
  /** `bootId`: in which boot that was; of a cancelled start it does not matter. */
  | ({ readonly kind: "ended"; readonly bootId?: string } & Ending);

export function terminalDirectory(home: string, id: string): string {
  return joinPath(home, `terminals/${id}`);
}

/** Short, because the system allows 107 bytes for the whole path. */
export function holderSocket(home: string, id: string): string {
  return joinPath(home, `run/${id.slice(0, 16)}.sock`);
}

export function readOnDisk({ disk, processes, home }: HomeWorld, id: string, generation: number): OnDisk {
  const directory = terminalDirectory(home, id);
  const ended = readEnd(disk, directory, generation);
  if (ended !== undefined) return ended;
  const bytes = readWhole(disk, joinPath(directory, "claim.json"));
  const claim = bytes === undefined ? undefined : parseClaim(bytes);
  if (bytes === undefined || (claim !== undefined && claim.generation !== generation)) return { kind: "unclaimed" };
  if (claim?.by === "cancel") return CANCELLED; // F1
  if (claim !== undefined && processes.alive(claim)) return { kind: "claimed", holder: claim, bootId: claim.bootId };
  // It may have left its exit after the first look and before it was gone; what it left is final now.
  return readEnd(disk, directory, generation) ?? { kind: "claimed", holder: undefined, bootId: claim?.bootId };
}

const CANCELLED: OnDisk = { kind: "ended", code: COULD_NOT_START, signal: null };

function readEnd(disk: Disk, directory: string, generation: number): OnDisk | undefined {
  const bytes = readWhole(disk, joinPath(directory, EXIT));
  const exit = bytes === undefined ? undefined : parseExit(bytes);
  return exit?.generation === generation ? { kind: "ended", bootId: exit.bootId, ...endingOf(exit) } : undefined;
}

/** Of this generation or an earlier one: a reason to read it. */
export function hasExit(disk: Disk, home: string, id: string): boolean {
  return disk.stat(joinPath(terminalDirectory(home, id), EXIT)) !== undefined;
}

export function endingOf({ code, signal, stopped, bootId }: HolderExit): Ending {
  return { code, signal, ...(stopped === true && { stoppedIn: bootId }) };
}

export function readHolderSpec(disk: Disk, home: string, id: string): HolderSpec | undefined {
  const bytes = readWhole(disk, joinPath(terminalDirectory(home, id), "holder.json"));
  const spec = bytes === undefined ? undefined : parseSpec(bytes);
  return spec?.ok === true ? spec.value : undefined;
}

export type SpecFacts = {
  readonly id: string;
  readonly generation: number;
  readonly recipe: Recipe;
  readonly token: string;
  readonly tape: HolderSpec["tape"];
  /** Of a restoration. */
  readonly preface?: string;
  readonly typed?: string;
  readonly startAt?: number;
};

/** What the holder is to do, durable before one is started. */
export async function writeHolderSpec({ disk, home }: HomeWorld, facts: SpecFacts): Promise<void> {
  const directory = terminalDirectory(home, facts.id);
  for (const parent of makeDirectories(disk, directory, home)) await disk.syncDirectory(parent);
  const { id, generation, recipe, token, tape, preface, typed, startAt } = facts;
  const spec: HolderSpec = {
    v: PROTOCOL,
    id,
    generation,
    mode: "pty",
    ...recipe,
    token,
    socket: holderSocket(home, id),
    tape,
    ...(preface !== undefined && { preface }),
    ...(typed !== undefined && typed !== "" && { typed }),
    ...(startAt !== undefined && { startAt }),
  };
  await writeAtomic(disk, joinPath(directory, "holder.json"), Buffer.from(`${JSON.stringify(spec)}\n`));
}

/** Makes the claim ourselves, so that a holder which comes late finds it and starts nothing. False where one was there. */
export async function cancelStart(
  { disk, clock, processes, home }: HomeWorld,
  id: string,
  generation: number,
): Promise<boolean> {
  const { pid } = processes;
  const claim: HolderClaim = {
    v: PROTOCOL,
    generation,
    by: "cancel",
    pid,
    startTime: processes.startTime(pid) ?? 0,
    bootId: processes.bootId(),
    at: new Date(clock.now()).toISOString(),
  };
  const path = joinPath(terminalDirectory(home, id), "claim.json");
  return createExclusive(disk, path, Buffer.from(`${JSON.stringify(claim)}\n`), String(pid));
}
