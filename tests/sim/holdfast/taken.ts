// What is left of a home when another host has taken it over: its logs, tapes and checkpoints, but nothing of what its
// holders have written, and no boot of this machine.
import { TAKEN } from "../../../src/home/layout.ts";
import type { SimDisk } from "../disk.ts";
import { HOME } from "../machine.ts";

/** The host that it is taken over from. */
export const FROM = "atlas";

/** Claims, exits and specs, of all generations; the journals; and the recovery that an earlier daemon was in. */
const LEFT_BEHIND =
  /\/(?:(?:claim|exit|holder)(?:-\d+)?\.json|[0-9]{4}\.journal|recovery-state\.json|clean-shutdown\.json)$/;

/** Nothing of it may run. Like everything that was not synced, this is final only after a power cut. */
export function leaveBehind(disk: SimDisk): void {
  for (const path of [...filesIn(disk, HOME)]) if (LEFT_BEHIND.test(path)) disk.unlink(path);
  disk.plant(`${HOME}/recovery/last-boot.json`, Buffer.from("restored\n"));
  const taken = { v: 1, from: FROM, at: "2026-11-17T10:00:00.000Z", seq: 1, epoch: 2 };
  disk.plant(`${HOME}/${TAKEN}`, Buffer.from(`${JSON.stringify(taken)}\n`));
}

function* filesIn(disk: SimDisk, directory: string): Generator<string> {
  for (const name of disk.list(directory)) {
    const path = `${directory}/${name}`;
    if (disk.stat(path)?.kind === "directory") yield* filesIn(disk, path);
    else yield path;
  }
}
