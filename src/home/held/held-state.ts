// The state of a held program by its files, for when its holder cannot be asked; and how a start is cancelled.
// HS1. A program may be started only if there is no claim. An exit is its end, and a cancelled start never began. Any
//      other claim without an exit, whose holder is gone, is a loss: the program was started, and may have done
//      anything. So is an unreadable claim.
// HS2. A cancelled start is a claim: a late holder finds it and starts nothing.
// HS3. A cancelled start that was not recorded may be undone: whichever holder is there first then claims it, and the
//      others start nothing.

import { joinPath } from "../../base/path.ts";
import { createExclusive } from "../../log/file/exclusive-file.ts";
import { removeIfThere } from "../../log/file/file.ts";
import { parseClaim } from "../../wire/holder/json.ts";
import { type HolderClaim, type HolderExit, PROTOCOL } from "../../wire/holder/protocol.ts";
import type { Processes, ProcessIdentity } from "../../world/process.ts";
import {
  CLAIM,
  type HeldDirectory,
  type HomeWorld,
  makeHeldDirectory,
  readClaim,
  readExit,
  readIfThere,
} from "./holder-files.ts";

export type HeldState =
  | { readonly kind: "unclaimed" }
  | { readonly kind: "cancelled" }
  /** Its holder is alive. */
  | { readonly kind: "claimed"; readonly holder: ProcessIdentity }
  /** `bootId`: that of its claim, if it can be read. */
  | { readonly kind: "lost"; readonly bootId: string | undefined }
  | { readonly kind: "ended"; readonly exit: HolderExit };

/** HS1 */
export function readHeld(place: HeldDirectory & { readonly processes: Processes }, generation: number): HeldState {
  const { disk, processes, directory } = place;
  const ended = readEnd(place, generation);
  if (ended !== undefined) return ended;
  const bytes = readIfThere(disk, joinPath(directory, CLAIM)); // Read once: it may be written at any moment.
  const claim = bytes === undefined ? undefined : parseClaim(bytes);
  if (bytes === undefined || (claim !== undefined && claim.generation !== generation)) return { kind: "unclaimed" };
  if (claim?.by === "cancel") return { kind: "cancelled" };
  if (claim !== undefined && processes.alive(claim)) return { kind: "claimed", holder: claim };
  // The holder may have written its exit between the first look and its end; from now on its files are final.
  return readEnd(place, generation) ?? { kind: "lost", bootId: claim?.bootId };
}

function readEnd(place: HeldDirectory, generation: number): HeldState | undefined {
  const exit = readExit(place);
  return exit?.generation === generation ? { kind: "ended", exit } : undefined;
}

/** HS2. Returns false if there is already a claim. */
export async function cancelStart(
  { disk, clock, processes, home }: HomeWorld,
  directory: string,
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
  await makeHeldDirectory(disk, home, directory);
  return createExclusive(disk, joinPath(directory, CLAIM), Buffer.from(`${JSON.stringify(claim)}\n`), String(pid));
}

/** HS3 */
export function undoCancel({ disk, directory }: HeldDirectory, generation: number): void {
  const claim = readClaim({ disk, directory });
  if (claim?.by === "cancel" && claim.generation === generation) removeIfThere(disk, joinPath(directory, CLAIM));
}
