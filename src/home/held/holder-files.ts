// The files of a held program, in its own directory: `holder.json` (the spec: what its holder is to do), `claim.json`
// (which holder started it) and `exit.json` (how it ended). held-state.ts interprets them together; holder/records.ts
// has the holder's side.
// F1. The spec, and the directory entries of its directory and all parents, are durable before a holder is started: a
//     claim that a power cut can remove would be worthless. Specs of attempts are an exception
//     (daemon/workflow/attempt-files.ts, F3 and F4).
// F2. Every spec gives its program the id of the home (home-id.ts), whatever its own variables are.

import { allOf } from "../../base/all-of.ts";
import { baseName, joinPath, parentOf } from "../../base/path.ts";
import type { Recipe } from "../../core/terminal/terminal.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { makeDirectories, readWhole } from "../../log/file/file.ts";
import { parseClaim, parseExit, parseSpec } from "../../wire/holder/json.ts";
import { type HolderClaim, type HolderExit, type HolderSpec, PROTOCOL } from "../../wire/holder/protocol.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import type { Processes } from "../../world/process.ts";
import { RUN, TERMINALS } from "../layout.ts";
import { HOME_ID, homeId } from "./home-id.ts";

export type HomeWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly processes: Processes;
  readonly home: string;
};

type InHome = Pick<HomeWorld, "disk" | "home">;

/** The directory of a held program. */
export type HeldDirectory = { readonly disk: Disk; readonly directory: string };

export const CLAIM = "claim.json";
export const EXIT = "exit.json";
const SPEC = "holder.json";

/** Programs on pipes have one generation: the next start uses another directory. */
export const ONLY_GENERATION = 1;
/** A spec must have a size; on pipes it has no meaning. */
const NO_SIZE = { cols: 80, rows: 24 };

export function terminalDirectory(home: string, id: string): string {
  return joinPath(home, `${TERMINALS}/${id}`);
}

export function terminalFiles(disk: Disk, home: string, id: string): HeldDirectory {
  return { disk, directory: terminalDirectory(home, id) };
}

/** Short, because the system allows 107 bytes for the whole path. */
export function holderSocket(home: string, id: string): string {
  return joinPath(home, `${RUN}/${id.slice(0, 16)}.sock`);
}

/**
 * Where the holder of a terminal listens. In a home that was copied, the spec still names the socket of the original's
 * holder, which has the same token.
 */
export function terminalSocket({ directory }: { readonly directory: string }): string {
  return holderSocket(parentOf(parentOf(directory)), baseName(directory));
}

export function tapeDirectory({ directory }: { readonly directory: string }): string {
  return joinPath(directory, "tape");
}

/** Returns undefined if there is none, or it cannot be read; so do the functions below. */
export function readSpec(place: HeldDirectory): HolderSpec | undefined {
  const spec = read(place, SPEC, parseSpec);
  return spec?.ok === true ? spec.value : undefined;
}

export function readClaim(place: HeldDirectory): HolderClaim | undefined {
  return read(place, CLAIM, parseClaim);
}

/** The holder that started the program; undefined if it was cancelled. */
export function readHolder(place: HeldDirectory): HolderClaim | undefined {
  const claim = readClaim(place);
  return claim?.by === "holder" ? claim : undefined;
}

export function readExit(place: HeldDirectory): HolderExit | undefined {
  return read(place, EXIT, parseExit);
}

function read<T>({ disk, directory }: HeldDirectory, name: string, parse: (bytes: Uint8Array) => T): T | undefined {
  const bytes = readIfThere(disk, joinPath(directory, name));
  return bytes === undefined ? undefined : parse(bytes);
}

/** These files are looked for much more often than found, and a failed `open` costs ten times a `stat`. */
export function readIfThere(disk: Disk, path: string): Uint8Array | undefined {
  return disk.stat(path) === undefined ? undefined : readWhole(disk, path);
}

/** Whether there is any claim, even an unreadable one: one `stat`. */
export function hasClaim({ disk, directory }: HeldDirectory): boolean {
  return disk.stat(joinPath(directory, CLAIM)) !== undefined;
}

/** Whether there is an exit, of any generation. */
export function hasExit({ disk, directory }: HeldDirectory): boolean {
  return disk.stat(joinPath(directory, EXIT)) !== undefined;
}

export function specPath({ directory }: { readonly directory: string }): string {
  return joinPath(directory, SPEC);
}

export function specBytes({ disk, home }: InHome, spec: Omit<HolderSpec, "v">): Uint8Array {
  const id = homeId(disk, home);
  const env = { ...spec.env, ...(id !== undefined && { [HOME_ID]: id }) }; // F2
  return Buffer.from(`${JSON.stringify({ v: PROTOCOL, ...spec, env })}\n`);
}

/**
 * Whether its program was started by this home, rather than by one that this home is a copy of. Specs of older versions
 * have no id: there the socket's path names the home.
 */
export function startedHere(place: InHome, directory: string): boolean {
  return ownSpec(place, directory) !== undefined;
}

/** The token in a spec that this home wrote; undefined if there is none, as in a copy. */
export function ownToken(place: InHome, directory: string): string | undefined {
  return ownSpec(place, directory)?.token;
}

function ownSpec({ disk, home }: InHome, directory: string): HolderSpec | undefined {
  const spec = readSpec({ disk, directory });
  const by = spec && starterOf(disk, spec);
  return by !== undefined && by === homeId(disk, home) ? spec : undefined;
}

/**
 * Whether its program belongs to another home, which is still there and which this one is a copy of. If that home is
 * gone, this one may be what was moved to another disk: nothing is proven.
 */
export function startedElsewhere({ disk, home }: InHome, directory: string): boolean {
  const spec = readSpec({ disk, directory });
  const by = spec && starterOf(disk, spec);
  return by !== undefined && by !== homeId(disk, home) && by === homeId(disk, homeOf(spec));
}

function starterOf(disk: Disk, spec: HolderSpec): string | undefined {
  return spec.env[HOME_ID] ?? homeId(disk, homeOf(spec));
}

/** The home that its socket is in. */
export function homeOf(spec: Pick<HolderSpec, "socket"> | undefined): string {
  return parentOf(parentOf(spec?.socket ?? ""));
}

/** The spec of a program on pipes. */
export function pipeSpec(
  held: Pick<HolderSpec, "id" | "argv" | "cwd" | "env" | "token" | "socket" | "tape">,
): Omit<HolderSpec, "v"> {
  return { generation: ONLY_GENERATION, mode: "pipe", size: NO_SIZE, ...held };
}

export type TerminalFacts = Pick<HolderSpec, "id" | "generation" | "token" | "tape"> & {
  readonly recipe: Recipe;
  /** Only for a restoration. */
  readonly preface?: string;
  readonly typed?: string;
  readonly startAt?: number;
};

export function writeTerminalSpec(world: HomeWorld, facts: TerminalFacts): Promise<void> {
  const { id, generation, recipe, token, tape, preface, typed, startAt } = facts;
  return writeSpec(world, terminalDirectory(world.home, id), {
    id,
    generation,
    mode: "pty",
    ...recipe,
    token,
    socket: holderSocket(world.home, id),
    tape,
    ...(preface !== undefined && { preface }),
    ...(typed !== undefined && typed !== "" && { typed }),
    ...(startAt !== undefined && { startAt }),
  });
}

/** F1. Side by side: one sync does not wait for the other. */
export async function writeSpec(place: InHome, directory: string, spec: Omit<HolderSpec, "v">): Promise<void> {
  const { disk, home } = place;
  const named = makeHeldDirectory(disk, home, directory);
  await allOf([named, writeAtomic(disk, specPath({ directory }), specBytes(place, spec))]);
}

/** F1. The directory is there when this returns, and its name is durable when it resolves. */
export async function makeHeldDirectory(disk: Disk, home: string, directory: string): Promise<void> {
  await allOf(makeDirectories(disk, directory, home).map((parent) => disk.syncDirectory(parent)));
}
