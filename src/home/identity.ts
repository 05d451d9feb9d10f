// Which home this is: an id of its own, with the directory and the path that it was last started in. A copy brings them
// along, and is recognised by them.
// ID1. The same directory is the same home, wherever it was moved on its disk. In another directory it is a copy as
//      long as the original is where it was; otherwise it was moved, or restored from a backup, and is taken over.
// ID2. A copy is not started without being asked: both would answer the same agents, repositories and schedules. It
//      gets a new identity on request, and everything secret in it is made anew.
// ID3. A home that was restored from a backup is a copy, wherever its original is, unless it is said to replace it
//      before its first start. It begins in safe mode, and no terminal is started again by itself until that is left:
//      all of them would do again what those of the original have done since. Its record says that it is a copy only
//      when all of this is durable.
import { joinPath, parentOf } from "../base/path.ts";
import type { Refusal } from "../base/result.ts";
import { removeIfThere } from "../log/file/file.ts";
import { type JsonObject, readJson, readJsonSurely, writeJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";
import type { Random } from "../world/random.ts";
import { homeId } from "./held/home-id.ts";
import {
  AGENTS,
  DEVICES,
  FLEET_FENCED,
  FLEET_OWNER,
  IDENTITY,
  LAST_ALIVE,
  MCP_ADDRESS,
  NOTIFY,
  PROMPT_KEY,
  PUSH_KEY,
  RECOVERY,
  RESTORED,
  SERVICE_MARK,
  TAKEN,
  TOKEN,
  TUNNEL_DEVICE_KEY,
  TUNNEL_IDENTITY,
  TUNNEL_WANTED,
  WEB_ADDRESS,
} from "./layout.ts";
import { enterSafeMode } from "./safe-mode.ts";
import { writeWanted } from "./wanted.ts";

type Place = { readonly disk: Disk; readonly home: string };
type Identity = { readonly id: string; readonly directory: string; readonly path: string };

const ID_BYTES = 16;
/** ID2. They name or open the original, or reach the people who are called for it. */
const OF_THE_ORIGINAL = [
  ...[TOKEN, WEB_ADDRESS, MCP_ADDRESS, LAST_ALIVE, SERVICE_MARK, PROMPT_KEY, DEVICES, NOTIFY, PUSH_KEY],
  ...[TUNNEL_IDENTITY, TUNNEL_WANTED, TUNNEL_DEVICE_KEY, FLEET_OWNER, FLEET_FENCED, TAKEN],
] as const;

/** The path of the original, if this home is a copy of it (ID1). */
export function originalOf({ disk, home }: Place): string | undefined {
  const ours = readIdentity({ disk, home });
  if (ours === undefined || ours.path === home || ours.directory === homeId(disk, home)) return undefined;
  const there = identityIn(readJson(disk, joinPath(ours.path, IDENTITY))); // It may be another user's.
  return there?.id === ours.id && homeId(disk, ours.path) === ours.directory ? ours.path : undefined;
}

type Origin = { readonly at: string; readonly backup: string; readonly seq: number; readonly original: string };

/** ID3. Nothing may run on this home. */
export async function markRestored({ disk, home }: Place, origin: Origin): Promise<void> {
  if (removeIfThere(disk, joinPath(home, SERVICE_MARK))) await disk.syncDirectory(joinPath(home, RECOVERY));
  await writeWanted(disk, home, "down"); // A command that only looks starts nothing: it would decide what the home is.
  await writeJson(disk, joinPath(home, RESTORED), { v: 1, ...origin });
}

/** ID3. Returns why it cannot. Nothing may run on this home. */
export async function replaceOriginal(place: Place): Promise<Refusal | undefined> {
  const { disk, home } = place;
  const original = originalOf(place);
  if (!isUndecided(place)) return notRestored(home);
  if (original !== undefined) return copied(home, original);
  removeIfThere(disk, joinPath(home, RESTORED));
  await disk.syncDirectory(joinPath(home, RECOVERY));
  return undefined;
}

function notRestored(home: string): Refusal {
  return {
    code: "not-restored",
    message: `${home} was not restored from a backup, or was started since.`,
    hint: "Restore the backup again: holdfast backup restore FILE DIR, then: up --replace-original --home DIR",
  };
}

function isUndecided({ disk, home }: Place): boolean {
  return disk.stat(joinPath(home, RESTORED)) !== undefined && !isRestoredCopy({ disk, home });
}

/** Whether it was restored from a backup, and started as a copy since. */
export function isRestoredCopy({ disk, home }: Place): boolean {
  return readJson(disk, joinPath(home, RESTORED))?.["copy"] === true;
}

/** ID3 */
async function becomeRestoredCopy(place: Place, random: Random, now: number): Promise<void> {
  const { disk, home } = place;
  if (!isUndecided(place)) return;
  await becomeAnother(place, random);
  const found = readJson(disk, joinPath(home, RESTORED));
  const named = found?.["original"];
  const original = typeof named === "string" ? named : "another home";
  await enterSafeMode(place, `it is a restored copy of ${original}: what was running waits for you`, now);
  await writeJson(disk, joinPath(home, RESTORED), { v: 1, ...found, copy: true });
}

/** Records where the home is now; returns the refusal if it is a copy (ID2). The home exists. */
export async function keepIdentity(place: Place, random: Random, now: number): Promise<Refusal | undefined> {
  await becomeRestoredCopy(place, random, now);
  const original = originalOf(place);
  if (original !== undefined) return copied(place.home, original);
  const known = readIdentity(place);
  await writeIdentity(place, known?.id ?? random.bytes(ID_BYTES).toHex(), known);
  return undefined;
}

/** The home that has this id is in the directory `at` now, and will be called `home`. */
export function adoptIdentity(disk: Disk, { at, home, id }: { at: string; home: string; id: string }): Promise<void> {
  return writeJson(disk, joinPath(at, IDENTITY), { v: 1, id, directory: homeId(disk, at) ?? "", path: home });
}

/** ID2. Nothing may run on this home. */
export async function becomeAnother(place: Place, random: Random): Promise<void> {
  const { disk, home } = place;
  for (const name of OF_THE_ORIGINAL) removeIfThere(disk, joinPath(home, name));
  const agents = joinPath(home, AGENTS);
  const directories = disk.list(agents).map((id) => joinPath(agents, id));
  for (const directory of directories)
    if (removeIfThere(disk, joinPath(directory, "token"))) await disk.syncDirectory(directory);
  const parents = new Set(OF_THE_ORIGINAL.map((name) => parentOf(joinPath(home, name))));
  for (const parent of parents) if (disk.stat(parent) !== undefined) await disk.syncDirectory(parent);
  await writeIdentity(place, random.bytes(ID_BYTES).toHex(), undefined);
}

async function writeIdentity({ disk, home }: Place, id: string, known: Identity | undefined): Promise<void> {
  const directory = homeId(disk, home) ?? "";
  if (known?.id === id && known.directory === directory && known.path === home) return;
  await writeJson(disk, joinPath(home, IDENTITY), { v: 1, id, directory, path: home });
}

/** Its id; undefined if it was never started. */
export function idOf(place: Place): string | undefined {
  return readIdentity(place)?.id;
}

/** A disk that fails once must not make another home of it. */
function readIdentity({ disk, home }: Place): Identity | undefined {
  return identityIn(readJsonSurely(disk, joinPath(home, IDENTITY)));
}

function identityIn({ id, directory, path }: JsonObject = {}): Identity | undefined {
  const known = typeof id === "string" && typeof directory === "string" && typeof path === "string";
  return known ? { id, directory, path } : undefined;
}

function copied(home: string, original: string): Refusal {
  return {
    code: "copied-home",
    message: `${home} is a copy of ${original}, which is still there; both would do the same work.`,
    hint: [
      `To use both: holdfast up --as-copy --home ${home}, which gives it its own identity, tokens and keys.`,
      `To use this one instead: stop the original (holdfast down --home ${original}) and move it away.`,
    ].join(" "),
  };
}
