// Tests of the atomic file: replaced as a whole or not at all,
// at every crash, on a disk that forgets what was not synced.
import { describe, expect, test } from "bun:test";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { everyCrash } from "../../../tests/sim/every-crash.ts";
import { nothing } from "../../../tests/sim/survive.ts";
import { bytes, DISKS, get, places, put } from "../../../tests/world/places.ts";
import { isFault } from "../../base/fault.ts";
import { writeAtomic } from "./atomic-file.ts";
import { readWhole } from "./file.ts";

const place = places();
const text = (found: Uint8Array | undefined): string | undefined => found && new TextDecoder().decode(found);

/** Longer than a sector, so that a torn write shows. */
const OLD = "old ".repeat(300);
const NEW = "new! ".repeat(400);
const THIRD = "third life";

async function faultCode(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return isFault(error) ? `${error.operation} ${error.code}` : String(error);
}

for (const [name, make] of Object.entries(DISKS)) {
  describe(`on a ${name} disk`, () => {
    test("EL-4(a) a file is created, then replaced, and no temporary file remains", async () => {
      const { disk, root } = place(make);
      await writeAtomic(disk, `${root}/a.json`, bytes("one"));
      await writeAtomic(disk, `${root}/a.json`, bytes("two"));
      expect(get(disk, `${root}/a.json`)).toBe("two");
      expect(disk.list(root)).toEqual(["a.json"]);
    });

    test("EL-4(b) TC-2(b) the next write removes stale temporary files of this target only", async () => {
      const { disk, root } = place(make);
      for (const stale of ["a.json.tmp", "a.json.12345678-0.tmp", "b.json.tmp"]) put(disk, `${root}/${stale}`, "half");
      await writeAtomic(disk, `${root}/a.json`, bytes("one"));
      expect(disk.list(root).sort()).toEqual(["a.json", "b.json.tmp"]);
    });

    test("UC-5(c) concurrent writers do not share a temporary file, even for the same bytes", async () => {
      const { disk, root } = place(make);
      const texts = ["same", "same", "other", "same", "more"];
      await Promise.all(texts.map((content) => writeAtomic(disk, `${root}/a.json`, bytes(content))));
      expect(texts).toContain(get(disk, `${root}/a.json`));
      expect(disk.list(root)).toEqual(["a.json"]);
    });
  });
}

function oldDisk(): SimDisk {
  const disk = new SimDisk();
  disk.plant("/d/a.json", bytes(OLD));
  return disk;
}

/** After any crash: whole, and new if that was acknowledged; then a second process writes, which is not lost either. */
async function whole(disk: SimDisk, promised: boolean, before: string | undefined): Promise<void> {
  const found = text(readWhole(disk, "/d/a.json"));
  expect(promised ? [NEW] : [before, NEW]).toContain(found);
  await writeAtomic(disk, "/d/a.json", bytes(THIRD));
  expect(disk.list("/d")).toEqual(["a.json"]);
  expect(text(readWhole(disk.powerCut(nothing), "/d/a.json"))).toBe(THIRD);
  expect(disk.openCount).toBe(0);
}

test("EL-4(a) TC-4 a crash at any call leaves the old file or the new one whole, and the next write works", async () => {
  const live = async (disk: SimDisk, promised: (is: boolean) => void) => {
    await writeAtomic(disk, "/d/a.json", bytes(NEW));
    promised(true);
  };
  const check = (disk: SimDisk, promised: boolean) => whole(disk, promised, OLD);
  expect(await everyCrash({ start: oldDisk(), nothingPromised: false, live, check })).toBeGreaterThan(100);
});

test("EL-4(a) a crash at any call of the first write leaves nothing or everything", async () => {
  const start = new SimDisk();
  start.plant("/d/other", bytes(""));
  const live = async (disk: SimDisk, promised: (is: boolean) => void) => {
    disk.unlink("/d/other");
    await disk.syncDirectory("/d");
    await writeAtomic(disk, "/d/a.json", bytes(NEW));
    promised(true);
  };
  const check = async (disk: SimDisk, promised: boolean) => {
    if (disk.stat("/d/other") === undefined) await whole(disk, promised, undefined);
  };
  expect(await everyCrash({ start, nothingPromised: false, live, check })).toBeGreaterThan(100);
});

for (const operation of ["open", "tryLock", "write", "sync", "rename"] as const) {
  for (const code of ["EIO", "ENOSPC", "EMFILE"]) {
    test(`TC-2(a) ${code} in ${operation} leaves the target untouched and no temporary file`, async () => {
      const disk = oldDisk();
      disk.fault = (call) => (call.operation === operation ? { kind: "fail", code } : undefined);
      expect(await faultCode(writeAtomic(disk, "/d/a.json", bytes(NEW)))).toBe(`${operation} ${code}`);
      disk.fault = undefined;
      expect(disk.fired.length).toBe(1);
      expect(disk.openCount).toBe(0);
      expect(disk.list("/d")).toEqual(["a.json"]);
      await whole(disk, false, OLD);
    });
  }
}

test("a failed sync of the directory is a Fault, and is not repeated", async () => {
  const disk = oldDisk();
  disk.fault = ({ operation }) => (operation === "syncDirectory" ? { kind: "fail", code: "EIO" } : undefined);
  expect(await faultCode(writeAtomic(disk, "/d/a.json", bytes(NEW)))).toBe("syncDirectory EIO");
  expect(disk.fired.length).toBe(1);
  expect(text(readWhole(disk.powerCut(nothing), "/d/a.json"))).toBe(OLD);
});

test("short and interrupted writes still produce a whole file", async () => {
  const disk = oldDisk();
  disk.fault = ({ operation, index }) => {
    if (operation !== "write") return undefined;
    return index % 2 === 0 ? { kind: "short", bytes: 100 } : { kind: "fail", code: "EINTR" };
  };
  await writeAtomic(disk, "/d/a.json", bytes(NEW));
  expect(disk.fired.length).toBeGreaterThan(10);
  expect(text(readWhole(disk.powerCut(nothing), "/d/a.json"))).toBe(NEW);
});

test("an interrupted sync is not repeated: the write fails", async () => {
  const disk = oldDisk();
  disk.fault = ({ operation }) => (operation === "sync" ? { kind: "fail", code: "EINTR" } : undefined);
  expect(await faultCode(writeAtomic(disk, "/d/a.json", bytes(NEW)))).toBe("sync EINTR");
  expect(disk.fired.length).toBe(1);
});

test("what runs before the commit can cancel it", async () => {
  const disk = oldDisk();
  const beforeCommit = () => Promise.reject(new Error("called off"));
  await expect(writeAtomic(disk, "/d/a.json", bytes(NEW), { beforeCommit })).rejects.toThrow("called off");
  await whole(disk, false, OLD);
});

test("UC-5(c) a temporary file that another process removed as stale is created again", async () => {
  const disk = oldDisk();
  let taken = 0;
  disk.onCall = ({ operation, path }) => {
    if (operation !== "rename" || taken > 2) return;
    taken += 1;
    disk.onCall = undefined;
    disk.unlink(path);
  };
  await writeAtomic(disk, "/d/a.json", bytes(NEW));
  expect(taken).toBe(1);
  await whole(disk, true, OLD);
});

test("UC-5(c) a temporary file that is removed again and again ends in a Fault", async () => {
  const disk = oldDisk();
  disk.fault = ({ operation }) => (operation === "rename" ? { kind: "fail", code: "ENOENT" } : undefined);
  expect(await faultCode(writeAtomic(disk, "/d/a.json", bytes(NEW)))).toBe("replace EBUSY");
  disk.fault = undefined;
  await whole(disk, false, OLD);
});
