// What the last life of the daemon left about its end, and what the next one concludes from it.
// LL1. A marker of a clean end is good for one start, and only if it ended the last boot that recovered. After a reboot
//      it stays, so that a start that is killed and tried again says the same.
// LL2. A home that was restored from a backup has not been used in this boot, even if its original has: nothing that
//      runs is its own.
// LL3. A home that was taken over from another host says so at every start, until that is in a report.

import { joinPath } from "../base/path.ts";
import { readWhole, removeIfThere } from "../log/file/file.ts";
import { readJson } from "../log/file/json-file.ts";
import type { Report } from "../wire/rpc/rpc.ts";
import { readTaken } from "./fleet-files.ts";
import type { HomeWorld } from "./held/holder-files.ts";
import { CLEAN_SHUTDOWN, LAST_BOOT, RECOVERY, RECOVERY_STATE } from "./layout.ts";
import { writeSmall } from "./small-file.ts";

/** `from`: the host that the home was taken over from. */
export type Cause = Pick<Report, "cause" | "from">;

export function detectCause(place: HomeWorld): Cause {
  const from = readTaken(place)?.from;
  return from === undefined ? { cause: ownCause(place) } : { cause: "taken over", from }; // LL3
}

function ownCause(place: HomeWorld): Report["cause"] {
  const { disk, home } = place;
  const boot = lastBoot(place);
  const clean = boot === "" || readJson(disk, joinPath(home, CLEAN_SHUTDOWN))?.["bootId"] === boot;
  if (wasDown(place)) return clean ? "machine restart" : "machine crash";
  return clean ? "clean start" : "daemon crash";
}

/** LL1. Synced: a power cut must not bring it back, and make a crash of the machine look like a clean end. */
export async function removeCleanEnd(place: HomeWorld): Promise<void> {
  const { disk, home } = place;
  if (!wasDown(place) && removeIfThere(disk, joinPath(home, CLEAN_SHUTDOWN)))
    await disk.syncDirectory(joinPath(home, RECOVERY));
}

function lastBoot({ disk, home }: Pick<HomeWorld, "disk" | "home">): string {
  return new TextDecoder().decode(readWhole(disk, joinPath(home, LAST_BOOT)) ?? new Uint8Array(0)).trim();
}

/** Whether the machine went down since the last recovery that was completed, or it was another machine. */
export function wasDown(place: HomeWorld): boolean {
  const boot = lastBoot(place);
  if (readTaken(place) !== undefined) return true;
  return boot !== "" && boot !== place.processes.bootId();
}

/** LL2. Whether its end was clean stays known. */
export async function forgetBoot(place: Pick<HomeWorld, "disk" | "home">): Promise<void> {
  const { disk, home } = place;
  const boot = lastBoot(place);
  const clean = readJson(disk, joinPath(home, CLEAN_SHUTDOWN));
  if (removeIfThere(disk, joinPath(home, RECOVERY_STATE))) await disk.syncDirectory(joinPath(home, RECOVERY));
  if (boot === "") return;
  if (clean?.["bootId"] === boot)
    await writeSmall(disk, home, CLEAN_SHUTDOWN, JSON.stringify({ ...clean, bootId: OTHER_BOOT }));
  await writeSmall(disk, home, LAST_BOOT, OTHER_BOOT);
}

/** The same, if it ran on another machine: it was used there, even if nothing says so. */
export async function forgetBootElsewhere(place: Pick<HomeWorld, "disk" | "home">): Promise<void> {
  await forgetBoot(place);
  if (lastBoot(place) === "") await writeSmall(place.disk, place.home, LAST_BOOT, OTHER_BOOT);
}

/** No boot of any machine has this id. */
const OTHER_BOOT = "restored";

/** A recovery is complete: this is the boot that the next start compares with. */
export function writeLastBoot({ disk, home, processes }: HomeWorld): Promise<void> {
  return writeSmall(disk, home, LAST_BOOT, processes.bootId());
}

export function writeCleanEnd({ disk, home, clock, processes }: HomeWorld): Promise<void> {
  const clean = { at: new Date(clock.now()).toISOString(), bootId: processes.bootId() };
  return writeSmall(disk, home, CLEAN_SHUTDOWN, JSON.stringify(clean));
}
