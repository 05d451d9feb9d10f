// The state of a held program by its files, for when its holder cannot be asked; and how a start is cancelled.
// HS1. A program may be started only if there is no claim. An exit is its end, and a cancelled start never began. Any
//      other claim without an exit, whose holder is gone, is a loss: the program was started, and may have done
//      anything. So is an unreadable claim.
// HS2. A cancelled start is a claim: a late holder finds it and starts nothing.
// HS3. A cancelled start that was not recorded may be undone: whichever holder is there first then claims it, and the
//      others start nothing.
// HS4. In a home that was taken over from another host, files may be missing, or older than what happened there. Only
//      an exit is final. Whatever else was begun gets a claim that names the other host: it is lost, never unclaimed or
//      cancelled, and no process here is taken for its holder, even if the hosts have the same boot id (containers).

import { joinPath } from "../../base/path.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { createExclusive } from "../../log/file/exclusive-file.ts";
import { removeIfThere } from "../../log/file/file.ts";
import { parseClaim } from "../../wire/holder/json.ts";
import { type HolderClaim, type HolderExit, PROTOCOL } from "../../wire/holder/protocol.ts";
import type { Processes, ProcessIdentity } from "../../world/process.ts";
import { setAsideBefore } from "./generations.ts";
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
  /** `bootId`: that of its claim, if it can be read. `host`: where it was begun, if not here (HS4). */
  | { readonly kind: "lost"; readonly bootId: string | undefined; readonly host?: string }
  | { readonly kind: "ended"; readonly exit: HolderExit };

/** HS1 */
export function readHeld(place: HeldDirectory & { readonly processes: Processes }, generation: number): HeldState {
  const { disk, processes, directory } = place;
  const ended = readEnd(place, generation);
  if (ended !== undefined) return ended;
  const bytes = readIfThere(disk, joinPath(directory, CLAIM)); // Read once: it may be written at any moment.
  const claim = bytes === undefined ? undefined : parseClaim(bytes);
  if (bytes === undefined || (claim !== undefined && claim.generation !== generation)) return { kind: "unclaimed" };
  if (claim?.host !== undefined) return { kind: "lost", bootId: claim.bootId, host: claim.host }; // HS4
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

/** No boot of any machine has this id. */
const OTHER_BOOT = "another host";

/** HS4. For a program that was begun, and whose end is not on record. Nothing of this home runs on this host yet. */
export async function claimForHost(world: HomeWorld, place: Begun, host: string): Promise<void> {
  const { disk, home } = world;
  const { directory, generation } = place;
  const files = { disk, directory };
  if (readEnd(files, generation) !== undefined) return;
  await setAsideBefore(files, generation);
  const found = readClaim(files);
  const known = found?.by === "holder" && found.generation === generation ? found : undefined;
  if (known?.host !== undefined) return; // An earlier takeover.
  const { pid = 0, startTime = 0, at = "" } = known ?? {};
  const claim: HolderClaim = { v: PROTOCOL, generation, by: "holder", pid, startTime, bootId: OTHER_BOOT, at, host };
  await makeHeldDirectory(disk, home, directory);
  await writeAtomic(disk, joinPath(directory, CLAIM), Buffer.from(`${JSON.stringify(claim)}\n`));
}

/** A program that was begun: where its files are. */
export type Begun = { readonly directory: string; readonly generation: number };
