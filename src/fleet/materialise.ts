// Makes a home's directory of what the database has, for the host that has just taken it (docs/FLEET.md).
// MA1. It is made beside its place, and takes its name in one step when all of it is durable (SG1 of home/staging.ts).
// MA2. What has that name already is renamed, and never removed. It can be repeated, after a crash at any moment.
// MA3. The log is complete: what the snapshot covers is in the logs of the sessions, and what is behind it in a file of
//      the write-ahead log. A hole, damage or another key ends the work, and leaves nothing.
// MA4. The home is the same one, in another place. It knows that it was taken over, under which take, and that it was
//      last used in another boot.
import { parentOf } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { readOwner, writeOwner, writeTaken } from "../home/fleet-files.ts";
import { adoptIdentity } from "../home/identity.ts";
import { forgetBootElsewhere } from "../home/last-life.ts";
import { TAKEN } from "../home/layout.ts";
import { runningOn } from "../home/running.ts";
import { Staging } from "../home/staging.ts";
import { writeWanted } from "../home/wanted.ts";
import { makeDirectories, writeAll } from "../log/file/file.ts";
import { importFrames } from "../log/import.ts";
import { segmentPath as tapeSegment } from "../log/tape/segments.ts";
import type { World } from "../world/world.ts";
import type { Take } from "./calls.ts";
import { type HomeFile, homeFiles } from "./home-files.ts";
import type { Mirror, Mirrored } from "./mirror.ts";
import { LOST, Opener } from "./opener.ts";
import type { FleetSeal } from "./seal.ts";
import { staleLogs } from "./stale-logs.ts";
import { orStopped, Stopped } from "./stopped.ts";

export type MaterialisePorts = {
  readonly world: Pick<World, "disk" | "clock" | "processes">;
  readonly mirror: Mirror;
  readonly seal: FleetSeal;
};

/** `directory`: where the home is to be; `from`: the name of the host that had it. The home is taken already. */
export type MaterialiseWish = { readonly take: Take; readonly directory: string; readonly from: string };

/** `aside`: what had the name before; `seq`: where its log ends. */
export type Materialised = { readonly aside: string | undefined; readonly seq: number; readonly files: number };

export async function materialise(ports: MaterialisePorts, wish: MaterialiseWish): Promise<Result<Materialised>> {
  const { watchdog, daemon } = runningOn(ports.world, wish.directory);
  if (watchdog !== undefined || daemon !== undefined)
    return refused("running", `Holdfast is running on ${wish.directory}.`, "It is a home already.");
  const made = await attempt(ports, wish);
  if (made.ok || !MAY_BE_MIRROR.includes(made.error.code)) return made;
  ports.mirror.distrust();
  return attempt(ports, wish);
}

/** After a power cut the mirror may contain anything (MI1 of mirror.ts). */
const MAY_BE_MIRROR: readonly string[] = [LOST, "fleet-damaged", "fleet-hole", "log.hole"];

async function attempt(ports: MaterialisePorts, wish: MaterialiseWish): Promise<Result<Materialised>> {
  const { disk } = ports.world;
  const { directory, take } = wish;
  const mirrored = await ports.mirror.refresh();
  if (!mirrored.ok) return mirrored;
  const { seq } = mirrored.value;
  if (readOwner({ disk, home: directory })?.take?.id === take.id) return ok({ aside: undefined, seq, files: 0 }); // MA2
  makeDirectories(disk, parentOf(directory));
  await disk.syncDirectory(parentOf(parentOf(directory))); // Also if it was there: its maker may have been killed.
  const begun = await Staging.begin(disk, { home: directory, ending: "taking", mark: TAKEN });
  if (!begun.ok) return begun;
  const staging = begun.value;
  try {
    const files = await fill(ports, wish, { staging, mirrored: mirrored.value });
    const aside = await moveAside(ports, directory);
    await staging.takeName();
    return ok({ aside, seq, files });
  } catch (error) {
    staging.removeBestEffort();
    if (error instanceof Stopped) return { ok: false, error: error.refusal }; // MA3
    throw error;
  } finally {
    staging.close();
  }
}

type To = { readonly staging: Staging; readonly mirrored: Mirrored };

/** Returns how many files it has. */
async function fill(ports: MaterialisePorts, wish: MaterialiseWish, { staging, mirrored }: To): Promise<number> {
  const { disk } = ports.world;
  const { take } = wish;
  const opener = new Opener(ports.mirror, ports.seal, take.home);
  const files = homeFiles(mirrored.blobs);
  const stale = staleLogs(files, (file) => opener.beginning(file));
  for (const file of files.filter(({ path }) => !stale.has(path))) await write(staging, file, opener);
  await staging.settle();
  const home = staging.path;
  await takeLog(ports, take.home, { home, mirrored });
  await adoptIdentity(disk, { at: home, home: wish.directory, id: take.home }); // MA4
  await forgetBootElsewhere({ disk, home });
  await writeWanted(disk, home, "up");
  await markTaken(ports, wish, { home, seq: mirrored.seq });
  return files.length - stale.size;
}

/** MA4. The last thing that is written. */
async function markTaken(
  { world: { disk, clock } }: MaterialisePorts,
  { take: { home: id, epoch, id: take }, from }: MaterialiseWish,
  { home, seq }: { readonly home: string; readonly seq: number },
): Promise<void> {
  await writeOwner({ disk, home }, { home: id, take: { epoch, id: take }, wished: null });
  await writeTaken({ disk, home }, { from, at: new Date(clock.now()).toISOString(), seq, epoch });
}

async function write(staging: Staging, file: HomeFile, opener: Opener): Promise<void> {
  if (file.kind === "tape") {
    for (const { start, bytes } of opener.tape(file))
      writeAll(await staging.create(tapeSegment(file.path, start)), bytes, 0);
    return;
  }
  const open = await staging.create(file.path);
  let at = 0;
  for (const piece of opener.pieces(file)) {
    writeAll(open, piece, at);
    at += piece.length;
  }
}

/** MA3 */
async function takeLog(
  { world: { disk, clock }, mirror, seal }: MaterialisePorts,
  id: string,
  { home, mirrored: { snapshot, seq } }: { readonly home: string; readonly mirrored: Mirrored },
): Promise<void> {
  const frames: Uint8Array[] = [];
  for (const row of mirror.batches()) {
    frames.push(...orStopped(seal.openBatches(id, row)).map(({ bytes }) => bytes));
  }
  const { end } = orStopped(await importFrames({ disk, clock, home }, frames, snapshot));
  if (end !== seq) orStopped(refused("fleet-hole", `The log of ${id} ends at ${end}, and not at ${seq}.`, AGAIN));
}

/** MA2. Returns the name that it has now. */
async function moveAside({ world: { disk, clock } }: MaterialisePorts, home: string): Promise<string | undefined> {
  const found = disk.lstat(home);
  if (found === undefined) return undefined;
  const time = new Date(clock.now()).toISOString().replaceAll(":", "");
  let aside = `${home}.before-${time}`;
  for (let n = 2; disk.lstat(aside) !== undefined; n += 1) aside = `${home}.before-${time}-${n}`;
  disk.rename(home, aside);
  await disk.syncDirectory(parentOf(home));
  return aside;
}

const AGAIN = "Nothing was changed. Try it again: what was damaged here is fetched anew.";
