// A power cut, as far as a living machine can play one: everything of a home is killed at once, and then another boot begins.
// What was not synced is still there: the simulated disk of tests/sim forgets that.
import { TapeReader } from "../../src/log/tape/reader.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { until } from "../until.ts";
import { type DaemonHome, isGone, killIfThere } from "./home.ts";

/** The environment of a daemon in this boot. */
export const boot = (number: number) => ({ HOLDFAST_BOOT_ID: `boot-${number}` });

/** Everything at once; nothing gets to say goodbye, or to heal anybody. One that has lost its memory may still have its locks for a moment. */
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

/** Waits until a terminal runs in this generation or a later one. */
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
