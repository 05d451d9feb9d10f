// Where an agent's files are: its session record, its token, and one directory for each of its processes.
// G1. A process is named by its agent and generation; no name is used twice, so that a holder is started at most once.

import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { Agent } from "../../core/agent/agent.ts";
import type { HeldTerminal } from "../../core/orphans.ts";
import { type HomeWorld, makeHeldDirectory } from "../../home/held/holder-files.ts";
import { AGENTS, RUN } from "../../home/layout.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { readWhole, removeTree } from "../../log/file/file.ts";
import { TapeReader } from "../../log/tape/reader.ts";
import type { Disk } from "../../world/disk.ts";
import type { Random } from "../../world/random.ts";
import { heldIn } from "../held/orphan-stop.ts";

export type ProcessPlace = { readonly id: string; readonly generation: number };

/** The output of many turns fits; a holder on pipes blocks the program before it drops anything. */
export const TAPE = { segmentBytes: 1 << 20, maxBytes: 64 << 20 };
const READ_BYTES = 1 << 20;
const TOKEN_BYTES = 32;

export function agentDirectory(home: string, id: string): string {
  return joinPath(home, `${AGENTS}/${id}`);
}

/** G1 */
export function processName({ id, generation }: ProcessPlace): string {
  return `${id}.${generation}`;
}

/** The inverse of `processName`. */
export function placeOfName(name: string): ProcessPlace {
  const dot = name.lastIndexOf(".");
  return { id: name.slice(0, dot), generation: Number(name.slice(dot + 1)) };
}

export function processDirectory(home: string, { id, generation }: ProcessPlace): string {
  return joinPath(agentDirectory(home, id), `processes/${generation}`);
}

/** Short, because the system allows 107 bytes for the whole path; distinct from those of terminals and attempts. */
export function processSocket(home: string, { id, generation }: ProcessPlace): string {
  return joinPath(home, `${RUN}/a${id.slice(0, 12)}-${generation}.sock`);
}

/** All output was read when a process ended: only the last directory is kept, for finding out what happened. */
export function removeOlder(disk: Disk, home: string, { id, generation }: ProcessPlace): void {
  const directory = joinPath(agentDirectory(home, id), "processes");
  try {
    const old = disk.list(directory).filter((name) => Number(name) < generation - 1);
    for (const name of old) removeTree(disk, joinPath(directory, name));
  } catch (error) {
    if (!isFault(error)) throw error; // This does not prevent a start; the next start retries.
  }
}

export function tokenPath(home: string, id: string): string {
  return joinPath(agentDirectory(home, id), "token");
}

export function readToken(disk: Disk, home: string, id: string): string | undefined {
  const bytes = readWhole(disk, tokenPath(home, id));
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes).trim();
}

/** The token that the agent's shim presents when it calls tools; created once. */
export async function keepAgentToken(world: HomeWorld & { readonly random: Random }, id: string): Promise<void> {
  const { disk, home, random } = world;
  if (readToken(disk, home, id) !== undefined) return;
  await makeHeldDirectory(disk, home, agentDirectory(home, id));
  await writeAtomic(disk, tokenPath(home, id), Buffer.from(`${random.bytes(TOKEN_BYTES).toHex()}\n`));
}

/** The output of its process from `from` on, in pieces: everything that is on disk. */
export function* outputFrom(
  disk: Disk,
  directory: string,
  from: number,
): Generator<{ offset: number; bytes: Uint8Array }> {
  const tape = new TapeReader(disk, joinPath(directory, "tape"));
  for (let at = Math.max(tape.start, from); ; ) {
    const read = tape.read(at, READ_BYTES);
    if (read.kind === "end") return;
    if (read.kind === "bytes") yield { offset: read.offset, bytes: read.bytes };
    at = read.kind === "bytes" ? read.offset + read.bytes.length : read.to;
  }
}

/** How much its process has written. */
export function outputEnd(disk: Disk, directory: string): number {
  return new TapeReader(disk, joinPath(directory, "tape")).end;
}

/** The newest stderr output of its process, for people who look for a reason. */
export function errorsOf(disk: Disk, directory: string): string {
  const tape = new TapeReader(disk, joinPath(directory, "stderr-tape"));
  const read = tape.read(tape.start, READ_BYTES);
  return read.kind === "bytes" ? new TextDecoder().decode(read.bytes) : "";
}

/** The recorded processes of agents, to find what is left of them. */
export function heldProcesses(world: HomeWorld, agents: Iterable<Agent>): HeldTerminal[] {
  return [...agents].flatMap((agent) => {
    const { id, generation, process: program } = agent;
    if (generation === 0) return [];
    const child = program.kind === "Running" ? program.child : undefined;
    const directory = processDirectory(world.home, { id, generation });
    return [heldIn(world, { directory, id: processName({ id, generation }), child })];
  });
}
