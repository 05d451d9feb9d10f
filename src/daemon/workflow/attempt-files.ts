// The files in an attempt's directory beside those of any held program (home/held/holder-files.ts), and its output.
// F3. The directory entries of an attempt's directory and of all its parents are durable before its command is executed
//     (F1). Those of the parents are synced before a holder gets its order (once for each run and daemon); its own is
//     synced by the holder, together with the claim (holder/records.ts, E1).
// F4. The holder's input is not synced: it is useless without that holder, and is written again until there is a claim.

import { assert } from "../../base/assert.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import type { HeldTerminal } from "../../core/orphans.ts";
import type { Output } from "../../core/workflow/commands.ts";
import type { Launch } from "../../core/workflow/launch.ts";
import { attemptChild } from "../../core/workflow/progress.ts";
import { attemptsOf, type Run } from "../../core/workflow/run.ts";
import { type HomeWorld, pipeSpec, specBytes, specPath } from "../../home/held/holder-files.ts";
import { RUN } from "../../home/layout.ts";
import type { DurableDirectories } from "../../log/file/durable-directories.ts";
import { writeUnsynced } from "../../log/file/unsynced-file.ts";
import { attemptPath } from "../../log/session/places.ts";
import { TapeReader } from "../../log/tape/reader.ts";
import type { Disk } from "../../world/disk.ts";
import { heldIn } from "../held/orphan-stop.ts";

/** A list of items may be long; the captured output of steps is far shorter. */
const TAPE = { segmentBytes: 1 << 20, maxBytes: 64 << 20 };
/** How much of an output is read at once. */
const READ_BYTES = 1 << 20;

/** Where an attempt is: its run's repository, and its id, which contains its run and its number. */
export type AttemptPlace = { readonly repo: string; readonly attempt: string };

export function attemptDirectory(home: string, { repo, attempt }: AttemptPlace): string {
  assert(attempt.lastIndexOf(".") > 0, "an attempt's id is its run's and a number");
  return attemptPath(home, repo, attempt);
}

/** Short, because the system allows 107 bytes for the whole path; distinct from those of terminals. */
export function attemptSocket(home: string, attempt: string): string {
  const dot = attempt.lastIndexOf(".");
  return joinPath(home, `${RUN}/w${attempt.slice(0, 8)}-${attempt.slice(dot + 1)}.sock`);
}

export type AttemptOrder = {
  readonly launch: Launch;
  readonly token: string;
  readonly directories: DurableDirectories;
};

/** Writes the holder's order, and the files that its program expects (F4). */
export async function writeAttempt(
  world: HomeWorld,
  place: AttemptPlace,
  { launch, token, directories }: AttemptOrder,
): Promise<void> {
  const { disk, home } = world;
  const directory = attemptDirectory(home, place);
  await directories.make(parentOf(directory)); // F3
  disk.makeDirectory(directory);
  const { argv, cwd, env, files } = launch;
  for (const { path, text } of files) writeUnsynced(disk, path, Buffer.from(text));
  const spec = pipeSpec({
    id: place.attempt,
    argv,
    cwd,
    env,
    token,
    socket: attemptSocket(home, place.attempt),
    tape: TAPE,
  });
  writeUnsynced(disk, specPath({ directory }), specBytes(world, spec));
}

/** The last `most` bytes of its stdout, and its total length. */
export function readOutput(disk: Disk, home: string, place: AttemptPlace, most: number): Output {
  const { bytes, end } = outputBytes(disk, home, place, most);
  return { text: new TextDecoder().decode(bytes), bytes: end };
}

export function outputBytes(disk: Disk, home: string, place: AttemptPlace, most: number) {
  const tape = new TapeReader(disk, joinPath(attemptDirectory(home, place), "tape"));
  const { end } = tape;
  const parts: Uint8Array[] = [];
  for (let at = Math.max(tape.start, end - most); at < end; ) {
    const read = tape.read(at, Math.min(READ_BYTES, end - at));
    if (read.kind === "end") break;
    if (read.kind === "bytes") parts.push(read.bytes);
    at = read.kind === "bytes" ? read.offset + read.bytes.length : read.to;
  }
  return { bytes: Buffer.concat(parts), end };
}

/** The recorded processes of the attempts of these runs, to find what is left of them. */
export function heldAttempts(world: HomeWorld, runs: Iterable<Run>): HeldTerminal[] {
  return [...runs].flatMap((run) =>
    attemptsOf(run).map((attempt) => {
      const { id } = attempt;
      const directory = attemptDirectory(world.home, { repo: run.repo, attempt: id });
      return heldIn(world, { directory, id, child: attemptChild(attempt) });
    }),
  );
}
