// A power cut, as far as a running machine can simulate one: everything of a home is killed at once, and then another
// boot begins. Unsynced data is still there; the simulated disk of tests/sim forgets it.
import { TapeReader } from "../../src/log/tape/reader.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { until } from "../until.ts";
import { type DaemonHome, isGone, killIfThere } from "./home.ts";

/** The environment of a daemon in this boot. */
export const boot = (number: number) => ({ HOLDFAST_BOOT_ID: `boot-${number}` });

/**
 * Kills everything at once, so that nothing can clean up or restart. A process without memory may still hold its locks
 * for a moment.
 */
export async function powerCut(home: DaemonHome): Promise<void> {
  const all = new Set(home.ours());
  for (const pid of all) killIfThere(pid, "SIGSTOP");
  for (const pid of all) killIfThere(pid);
  await until(
    "all are gone",
    () => {
      const left = home.ours();
      for (const pid of left) {
        all.add(pid);
        killIfThere(pid);
      }
      return left.length === 0 && [...all].every(isGone);
    },
    () => home.ours(),
  );
}

export function tapeText(home: DaemonHome, id: string): string {
  const read = new TapeReader(realDisk(), home.file(`terminals/${id}/tape`)).read(0, 1 << 20);
  return read.kind === "bytes" ? Buffer.from(read.bytes).toString("utf8") : "";
}

/** Waits until a terminal runs in this or a later generation. */
export function isBack(home: DaemonHome, id: string, generation: number) {
  return until(
    `${id} runs in generation ${generation}`,
    async () => {
      const terminal = await home.listed(id);
      return terminal.generation >= generation && terminal.state.kind === "running" ? terminal.state : undefined;
    },
    () => home.listed(id),
  );
}
