// Makes a home of a backup.
// RS1. It is made beside its place, and takes its name in one step when all of it is durable: under that name there is
//      a whole home or none. What a killed process left beside it is removed by the next restoration to this place.
// RS2. Nothing that is there is replaced: the place has nothing, or an empty directory.
// RS3. Each file's hash is compared before the home has its name; the first damage ends the work, and leaves nothing.
// RS4. The home knows that it was restored: it is started as after a crash of the machine, and is a copy until somebody
//      says that it replaces the original (ID3 of identity.ts).

import { parentOf } from "../../base/path.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { writeAll } from "../../log/file/file.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import type { Processes } from "../../world/process.ts";
import { markRestored } from "../identity.ts";
import { forgetBoot } from "../last-life.ts";
import { RESTORED } from "../layout.ts";
import { runningOn } from "../running.ts";
import { Staging } from "../staging.ts";
import type { BackupChain } from "./chain.ts";
import { orRefused } from "./stopped.ts";

export type RestoreWorld = {
  readonly disk: Disk;
  readonly clock: Pick<Clock, "now">;
  readonly processes: Processes;
};

export type Restored = { readonly home: string; readonly seq: number; readonly files: number; readonly bytes: number };

/** `step` is called after each piece of work with its bytes; it throws to end the work. */
export function restore(
  world: RestoreWorld,
  chain: BackupChain,
  home: string,
  step: (bytes: number) => Promise<void>,
): Promise<Result<Restored>> {
  return orRefused(chain.newest.path, async () => {
    const refusal = whyNotThere(world, home);
    if (refusal !== undefined) return { ok: false, error: refusal };
    const begun = await Staging.begin(world.disk, { home, ending: "restoring", mark: RESTORED }); // RS1
    if (!begun.ok) return begun;
    const staging = begun.value;
    try {
      const restored = await fill(world, chain, { staging, home }, step);
      await staging.takeName();
      return ok(restored);
    } catch (error) {
      staging.removeBestEffort();
      throw error;
    } finally {
      staging.close();
    }
  });
}

/** RS2 */
function whyNotThere({ disk, processes }: RestoreWorld, home: string): Refusal | undefined {
  const { watchdog, daemon } = runningOn({ disk, processes }, home);
  const found = disk.lstat(home);
  if (watchdog !== undefined || daemon !== undefined)
    return refused("running", `Holdfast is running on ${home}.`, OTHER_PLACE).error;
  if (disk.stat(parentOf(home))?.kind !== "directory")
    return refused("no-directory", `There is no directory ${parentOf(home)}.`, "Make it first.").error;
  if (found === undefined || (found.kind === "directory" && disk.list(home).length === 0)) return undefined;
  const what = found.kind === "directory" ? "is not empty" : "is no directory";
  return refused("not-empty", `${home} ${what}.`, OTHER_PLACE).error;
}

const OTHER_PLACE = "Name a directory that is empty, or does not exist yet. Nothing is replaced.";

type To = { readonly staging: Staging; readonly home: string };

async function fill(
  { disk, clock }: RestoreWorld,
  chain: BackupChain,
  { staging, home }: To,
  step: (bytes: number) => Promise<void>,
): Promise<Restored> {
  let bytes = 0;
  const { entries, newest } = chain;
  for (const entry of entries) {
    const file = await staging.create(entry.path);
    let at = 0;
    for await (const part of chain.contents(entry)) {
      writeAll(file, part, at);
      at += part.length;
      await step(part.length);
    } // RS3
    bytes += at;
  }
  await staging.settle();
  const { seq, home: original } = newest.index.top;
  const at = new Date(clock.now()).toISOString();
  await forgetBoot({ disk, home: staging.path }); // RS4
  await markRestored({ disk, home: staging.path }, { at, backup: newest.header.id, seq, original: original.path });
  return { home, seq, files: entries.length, bytes };
}
