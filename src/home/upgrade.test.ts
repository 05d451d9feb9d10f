// The files and the record of an upgrade, with a crash and a power cut at every call.
import { expect, test } from "bun:test";
import { SimDisk } from "../../tests/sim/disk.ts";
import { everyCrash } from "../../tests/sim/every-crash.ts";
import { everything } from "../../tests/sim/survive.ts";
import { put } from "../../tests/world/places.ts";
import { readWhole } from "../log/file/file.ts";
import type { Disk } from "../world/disk.ts";
import {
  endUpgrade,
  fileAt,
  install,
  keepPrevious,
  nextName,
  previousName,
  readUpgrade,
  reinstate,
  removeLeftOvers,
  type UpgradeRecord,
  upgradePath,
  writeUpgrade,
} from "./upgrade.ts";

const HOME = "/home";
const NAME = "/opt/holdfast";
const [OLDER, OLD, NEW] = ["the one before", "the old one", "the new one"];

/** As it is once the new version is copied and checked. */
function start(): SimDisk {
  const disk = new SimDisk();
  for (const path of ["/opt", HOME, `${HOME}/recovery`]) disk.makeDirectory(path);
  put(disk, NAME, OLD);
  put(disk, nextName(NAME), NEW);
  put(disk, previousName(NAME), OLDER);
  return disk.powerCut(everything);
}

function recordOn(disk: Disk): UpgradeRecord {
  const release = (version: string, path: string) => ({ version, file: fileAt(disk, path) ?? "" });
  return {
    ...{ v: 1, path: NAME, by: { pid: 1, startTime: 1, bootId: "b" }, limitMs: 1, page: true, safeMode: false },
    ...{ from: release("1", NAME), to: release("2", nextName(NAME)) },
  };
}

function textAt(disk: Disk, path: string): string | undefined {
  const bytes = readWhole(disk, path);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

/** What a next start does, in either case (cli/upgrade/settle.ts): the new version stays, or does not. */
async function settled(disk: SimDisk, works: boolean): Promise<void> {
  const record = readUpgrade(disk, HOME);
  if (record === undefined) return;
  const isInstalled = fileAt(disk, NAME) === record.to.file;
  if (isInstalled && works) await keepPrevious(disk, NAME);
  else {
    if (isInstalled) await reinstate(disk, record);
    await removeLeftOvers(disk, NAME);
  }
  await endUpgrade(disk, HOME);
}

async function upgraded(disk: SimDisk, works: boolean): Promise<void> {
  await writeUpgrade(disk, HOME, recordOn(disk));
  await install(disk, NAME);
  await settled(disk, works);
}

test.each([true, false])(
  "UP1 a whole version has the name after every crash, and the next start ends it; works: %p",
  async (works) => {
    const survived = await everyCrash({
      start: start(),
      nothingPromised: undefined,
      live: (disk) => upgraded(disk, works),
      check: async (disk) => {
        expect([OLD, NEW]).toContain(textAt(disk, NAME) ?? "");
        if (textAt(disk, NAME) === NEW) expect([works, readUpgrade(disk, HOME) !== undefined]).toContain(true);
        const wasNew = textAt(disk, NAME) === NEW;
        await settled(disk, works);
        expect(textAt(disk, NAME)).toBe(wasNew && works ? NEW : OLD);
        expect(disk.stat(upgradePath(HOME))).toBeUndefined();
        const previous = textAt(disk, previousName(NAME));
        expect(previous).toBe(wasNew && works ? OLD : OLDER);
        expect(
          disk
            .list("/opt")
            .toSorted()
            .filter((name) => !/\.(?:previous|next)$/.test(name)),
        ).toEqual(["holdfast"]);
      },
    });
    expect(survived).toBeGreaterThan(50);
  },
);
