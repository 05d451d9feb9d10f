// What lies in an attempt's directory: what its holder is to do, how its life is known when nobody can be asked, and what it wrote.
// F1. No claim is the one state in which it may be started. An exit is its end; a claim without one whose holder is gone is a loss:
//     it was started, and may have done anything.
// F2. A holder that was told to leave ended its program before its time: that end says nothing about the work.
// F3. The names of a directory and of everything above it are durable before its command is executed: a claim that a power cut takes
//     along would be no claim. Those above are so before a holder is told (once for each run in a daemon's life); the directory's own
//     is made so by the holder, together with the claim (holder/records.ts, E1).
// F4. What the holder reads is not synced: it is worth nothing without that holder, and where there is no claim it is written anew.
import { assert } from "../../base/assert.ts";
import type { HeldTerminal } from "../../core/orphans.ts";
import type { Output } from "../../core/workflow/commands.ts";
import type { Launch } from "../../core/workflow/launch.ts";
import { attemptChild } from "../../core/workflow/progress.ts";
import { attemptsOf, type Run } from "../../core/workflow/run.ts";
import { createExclusive } from "../../log/exclusive-file.ts";
import { joinPath, makeDirectories, parentOf, readWhole } from "../../log/file.ts";
import { attemptPath } from "../../log/places.ts";
import { TapeReader } from "../../log/tape-reader.ts";
import { writeUnsynced } from "../../log/unsynced-file.ts";
import { type HolderClaim, type HolderSpec, PROTOCOL } from "../../wire/holder.ts";
import { parseClaim, parseExit, parseSpec } from "../../wire/holder-json.ts";
import type { Disk } from "../../world/disk.ts";
import type { ProcessIdentity } from "../../world/process.ts";
import type { HolderPlace } from "../holder-files.ts";

/** One generation: an attempt is made once, and the next one has another id. */
const GENERATION = 1;
/** A list of items may be long; what steps capture is far shorter. */
const TAPE = { segmentBytes: 1 << 20, maxBytes: 64 << 20 };
/** Holders want one; on pipes it means nothing. */
const SIZE = { cols: 80, rows: 24 };
/** What is read of an output at once. */
const READ_BYTES = 1 << 20;

/** Where an attempt is: its run's repository, its run and its number, as its id says them. */
export type AttemptPlace = { readonly repo: string; readonly attempt: string };

export function attemptDirectory(home: string, { repo, attempt }: AttemptPlace): string {
  assert(attempt.lastIndexOf(".") > 0, "an attempt's id is its run's and a number");
  return attemptPath(home, repo, attempt);
}

/** Short, because the system allows 107 bytes for the whole path; and no terminal's. */
export function attemptSocket(home: string, attempt: string): string {
  const dot = attempt.lastIndexOf(".");
  return joinPath(home, `run/w${attempt.slice(0, 8)}-${attempt.slice(dot + 1)}.sock`);
}

export type OnDisk =
  | { readonly kind: "unclaimed" }
  | { readonly kind: "prevented" }
  | { readonly kind: "ended"; readonly code: number | null; readonly signal: string | null }
  /** F2 */
  | { readonly kind: "stopped" }
  /** `holder`: who claimed it, where that one lives. */
  | { readonly kind: "claimed"; readonly holder: ProcessIdentity | undefined; readonly bootId: string | undefined };

export function readAttempt({ disk, processes, home }: HolderPlace, place: AttemptPlace): OnDisk {
  const directory = attemptDirectory(home, place);
  const ended = readEnd(disk, directory);
  if (ended !== undefined) return ended;
  const bytes = readWhole(disk, joinPath(directory, "claim.json"));
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

export function readAttemptSpec(disk: Disk, home: string, place: AttemptPlace): HolderSpec | undefined {
  const bytes = readWhole(disk, joinPath(attemptDirectory(home, place), "holder.json"));
  const spec = bytes === undefined ? undefined : parseSpec(bytes);
  return spec?.ok === true ? spec.value : undefined;
}

export type AttemptOrder = {
  readonly launch: Launch;
  readonly token: string;
  /** Directories of runs whose names this life knows to be durable (F3). */
  readonly durable: Set<string>;
};

/** What the holder is to do, and the files its program wants to find (F4). */
export async function writeAttempt(
  { disk, home }: HolderPlace,
  place: AttemptPlace,
  { launch, token, durable }: AttemptOrder,
): Promise<void> {
  const directory = attemptDirectory(home, place);
  const above = parentOf(directory);
  const unsynced = makeDirectories(disk, directory, durable.has(above) ? undefined : home);
  for (const parent of unsynced) if (parent !== above) await disk.syncDirectory(parent); // F3
  durable.add(above);
  const { argv, cwd, env, files } = launch;
  for (const { path, text } of files) writeUnsynced(disk, path, Buffer.from(text));
  const spec: HolderSpec = {
    v: PROTOCOL,
    id: place.attempt,
    generation: GENERATION,
    mode: "pipe",
    argv,
    cwd,
    env,
    size: SIZE,
    token,
    socket: attemptSocket(home, place.attempt),
    tape: TAPE,
  };
  writeUnsynced(disk, joinPath(directory, "holder.json"), Buffer.from(`${JSON.stringify(spec)}\n`));
}

/** Makes the claim ourselves, so that a holder which comes late finds it and starts nothing. False where one was there. */
export async function preventAttempt(world: HolderPlace, place: AttemptPlace): Promise<boolean> {
  const { disk, clock, processes, home } = world;
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
  const directory = attemptDirectory(home, place);
  for (const parent of makeDirectories(disk, directory, home)) await disk.syncDirectory(parent); // F3
  return createExclusive(
    disk,
    joinPath(directory, "claim.json"),
    Buffer.from(`${JSON.stringify(claim)}\n`),
    String(pid),
  );
}

/** What it wrote to stdout: the last `most` bytes of it, and how many there were. */
export function readOutput(disk: Disk, home: string, place: AttemptPlace, most: number): Output {
  const tape = new TapeReader(disk, joinPath(attemptDirectory(home, place), "tape"));
  const { end } = tape;
  const parts: Uint8Array[] = [];
  for (let at = Math.max(tape.start, end - most); at < end; ) {
    const read = tape.read(at, Math.min(READ_BYTES, end - at));
    if (read.kind === "end") break;
    if (read.kind === "bytes") parts.push(read.bytes);
    at = read.kind === "bytes" ? read.offset + read.bytes.length : read.to;
  }
  return { text: new TextDecoder().decode(Buffer.concat(parts)), bytes: end };
}

/** The processes that attempts of these runs were recorded with, to know who is left of them. */
export function heldAttempts({ disk, home }: HolderPlace, runs: Iterable<Run>): HeldTerminal[] {
  return [...runs].flatMap((run) =>
    attemptsOf(run).map((attempt) => {
      const { id } = attempt;
      const bytes = readWhole(disk, joinPath(attemptDirectory(home, { repo: run.repo, attempt: id }), "claim.json"));
      const claim = bytes === undefined ? undefined : parseClaim(bytes);
      const holder = claim?.by === "holder" ? claim : undefined;
      return { id, holder, child: attemptChild(attempt), seenAt: undefined };
    }),
  );
}
