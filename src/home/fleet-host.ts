// What a host is in its fleet, and which homes it is just taking over: in `.host/` of the directory that such homes are
// put in (`[fleet] homes`), because all homes of the host share it (docs/FLEET.md).
// FH1. A host keeps its id. It is random: machines that were cloned, and containers, share everything else.
// FH2. A take is on record before it is sent, and until another one is seen in its place: whatever became of it, it is
//      known again by its id.
import { joinPath, parentOf } from "../base/path.ts";
import { readJson, writeJson } from "../log/file/json-file.ts";
import { fitting } from "../wire/check.ts";
import { count, flag, type Infer, list, object, text, textOf } from "../wire/shape.ts";
import type { Disk } from "../world/disk.ts";
import type { Random } from "../world/random.ts";

const HOST_ID = ".host/id.json";
const WISHES = ".host/taking.json";
const HOST_LOCK = ".host/standby.lock";
const ID_BYTES = 16;

const ID = object({ id: textOf({ pattern: /^[0-9a-f]{32}$/ }) });
/** `from`: the name of the host that had it; `name`: of its directory; `epoch`, `id`: of the take. */
const WISH = object({ home: text, from: text, name: text, takeover: text, epoch: count, id: text, isMove: flag });
export type TakeRecord = Infer<typeof WISH>;
const RECORD = object({ wishes: list(WISH) });

type Homes = { readonly disk: Disk; readonly homes: string };

/** One standby program of the host acts for it: the one that holds this. */
export function hostLock({ homes }: Homes): string {
  return joinPath(homes, HOST_LOCK);
}

/** Undefined: it has none yet. */
export function readHostId({ disk, homes }: Homes): string | undefined {
  return fitting(ID, readJson(disk, joinPath(homes, HOST_ID)))?.id;
}

/** FH1 */
export async function keepHostId({ disk, homes }: Homes, random: Random): Promise<string> {
  const path = joinPath(homes, HOST_ID);
  const known = readHostId({ disk, homes });
  if (known !== undefined) return known;
  const id = random.bytes(ID_BYTES).toHex();
  await writeJson(disk, path, { v: 1, id });
  return id;
}

export function readTakings({ disk, homes }: Homes): readonly TakeRecord[] {
  return fitting(RECORD, readJson(disk, joinPath(homes, WISHES)))?.wishes ?? [];
}

/** More than can be under way: those of a home end with its next take. */
const MAX_WISHES = 64;

/** FH2 */
export function writeTakings({ disk, homes }: Homes, wishes: readonly TakeRecord[]): Promise<void> {
  return writeJson(disk, joinPath(homes, WISHES), { v: 1, wishes: wishes.slice(-MAX_WISHES) });
}

/** Whether a home was taken over from another host: those are put there, and no others. */
export function isTakenOver({ disk, homes }: Homes, home: string): boolean {
  const parent = disk.realPath(parentOf(home));
  return parent !== undefined && parent === disk.realPath(homes);
}
