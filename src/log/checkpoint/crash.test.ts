// Tests of the checkpoint store when things go wrong: a crash at every call, disk faults, other processes.
import { expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { everyCrash } from "../../../tests/sim/every-crash.ts";
import { nothing } from "../../../tests/sim/survive.ts";
import { bytes, DISKS, places } from "../../../tests/world/places.ts";
import { isFault } from "../../base/fault.ts";
import { listQuarantine } from "../file/quarantine.ts";
import { type CheckpointOptions, CheckpointStore } from "./store.ts";

const place = places();
const DIRECTORY = "/home/a/sessions";
const PATH = `${DIRECTORY}/checkpoint.json`;
const VARIANTS = {
  backup: { backup: `${DIRECTORY}/checkpoint.backup.json` },
  history: { history: `${DIRECTORY}/history`, limit: 2 },
} as const;
const FACTS = { home: "/home", path: PATH, kind: "test", version: 1, fold: 1 } as const;

/** Longer than a sector, so that a torn write shows. */
const bodyOf = (seq: number) => ({ seq, filler: "x".repeat(1500) });

function emptyHome(): SimDisk {
  const disk = new SimDisk();
  disk.plant("/home/other", bytes(""));
  return disk;
}

function seqOf(store: CheckpointStore): number {
  const loaded = store.load();
  if (loaded.kind !== "loaded") return loaded.kind === "none" && loaded.problems.length === 0 ? 0 : -1;
  expect(loaded.from).toBe(PATH);
  expect(loaded.problems).toEqual([]);
  expect(loaded.checkpoint.body).toEqual(bodyOf(loaded.checkpoint.seq));
  return loaded.checkpoint.seq;
}

function* everyFile(disk: SimDisk, directory = "/home"): Generator<string> {
  for (const name of disk.list(directory)) {
    const path = `${directory}/${name}`;
    if (disk.stat(path)?.kind === "directory") yield* everyFile(disk, path);
    else yield path;
  }
}

/** A second process saves again: nothing is lost, the previous one is kept, and no leftovers remain. */
async function secondLife(disk: SimDisk, options: CheckpointOptions, before: number): Promise<void> {
  await new CheckpointStore(disk, new SimClock(), options).save(bodyOf(100), 100);
  const after = disk.powerCut(nothing);
  const store = new CheckpointStore(after, new SimClock(), options);
  expect(seqOf(store)).toBe(100);
  if (before > 0) expect(store.listHistory()[0]).toMatchObject({ valid: true, seq: before });
  expect([...everyFile(disk)].filter((path) => path.endsWith(".tmp"))).toEqual([]);
  expect(listQuarantine(disk, "/home")).toEqual([]);
  after.rot(PATH, 300, 1);
  const fallen = store.load();
  expect(before > 0 ? fallen.kind === "loaded" && fallen.checkpoint.seq : fallen.kind).toBe(
    before > 0 ? before : "none",
  );
}

for (const [variant, keep] of Object.entries(VARIANTS)) {
  const options: CheckpointOptions = { ...FACTS, keep };

  test(`TC-4 UC-5(a,d) ${variant}: a crash at any call leaves the last acknowledged one whole; saving works`, async () => {
    const live = async (disk: SimDisk, promised: (seq: number) => void) => {
      const store = new CheckpointStore(disk, new SimClock(), options);
      for (const seq of [1, 2, 3, 4]) {
        await store.save(bodyOf(seq), seq);
        promised(seq);
      }
    };
    const check = async (disk: SimDisk, promised: number) => {
      const seq = seqOf(new CheckpointStore(disk, new SimClock(), options));
      expect([promised, promised + 1]).toContain(seq);
      await secondLife(disk, options, seq);
    };
    expect(await everyCrash({ start: emptyHome(), nothingPromised: 0, live, check })).toBeGreaterThan(800);
  });

  test(`TC-8(b) ${variant}: a crash while setting aside a corrupt primary loses neither it nor the older one`, async () => {
    const start = emptyHome();
    const store = new CheckpointStore(start, new SimClock(), options);
    for (const seq of [1, 2]) await store.save(bodyOf(seq), seq);
    start.rot(PATH, 200, 4);
    const live = async (disk: SimDisk, promised: (is: boolean) => void) => {
      await new CheckpointStore(disk, new SimClock(), options).save(bodyOf(3), 3);
      promised(true);
    };
    const check = async (disk: SimDisk, promised: boolean) => {
      const loaded = new CheckpointStore(disk, new SimClock(), options).load();
      expect(loaded.kind === "loaded" && loaded.checkpoint.seq).toBe(
        promised || (loaded.kind === "loaded" && loaded.from === PATH) ? 3 : 1,
      );
      await new CheckpointStore(disk, new SimClock(), options).save(bodyOf(100), 100);
      const after = disk.powerCut(nothing);
      expect(seqOf(new CheckpointStore(after, new SimClock(), options))).toBe(100);
      expect(listQuarantine(after, "/home").length).toBe(1);
    };
    expect(await everyCrash({ start, nothingPromised: false, live, check })).toBeGreaterThan(200);
  });

  test(`UC-5(a,d) ${variant}: a call that fails once is a Fault or harmless; the next save works`, async () => {
    const start = emptyHome();
    const first = new CheckpointStore(start, new SimClock(), options);
    for (const seq of [1, 2]) await first.save(bodyOf(seq), seq);
    let fired = 1;
    for (let index = 1; fired > 0; index += 1) {
      const disk = start.fork();
      const store = new CheckpointStore(disk, new SimClock(), options);
      disk.fault = (call) => (call.index === index ? { kind: "fail", code: "ENOSPC" } : undefined);
      const saved = await store.save(bodyOf(3), 3).then(
        () => true,
        (error: unknown) => (isFault(error) ? false : Promise.reject(error)),
      );
      fired = disk.fired.length;
      disk.fault = undefined;
      expect(saved ? [3] : [2, 3]).toContain(seqOf(new CheckpointStore(disk, new SimClock(), options)));
      expect(disk.openCount).toBe(0);
      await new CheckpointStore(disk, new SimClock(), options).save(bodyOf(4), 4);
      expect(seqOf(new CheckpointStore(disk.powerCut(nothing), new SimClock(), options))).toBe(4);
    }
  });

  test(`UC-4(b) with ${variant}, copies are made on a file system without hard links`, async () => {
    const disk = emptyHome();
    disk.fault = ({ operation }) => (operation === "link" ? { kind: "fail", code: "EPERM" } : undefined);
    const store = new CheckpointStore(disk, new SimClock(), options);
    for (const seq of [1, 2, 3]) await store.save(bodyOf(seq), seq);
    expect(disk.fired.length).toBe(2);
    const after = new CheckpointStore(disk.powerCut(nothing), new SimClock(), options);
    expect(seqOf(after)).toBe(3);
    expect(after.listHistory()[0]).toMatchObject({ valid: true, seq: 2 });
  });
}

for (const [variant, keep] of Object.entries(VARIANTS)) {
  test(`UC-5(c) ${variant}: a primary replaced by another process meanwhile is kept; a removed one is not missed`, async () => {
    const disk = emptyHome();
    const store = new CheckpointStore(disk, new SimClock(), { ...FACTS, keep });
    await store.save(bodyOf(1), 1);
    disk.fault = ({ operation }) =>
      operation === "link" && disk.fired.length < 2 ? { kind: "fail", code: "ENOENT" } : undefined;
    await store.save(bodyOf(2), 2);
    expect(disk.fired.length).toBe(2);
    expect(store.listHistory()).toMatchObject([{ valid: true, seq: 1 }]);
    disk.unlink(PATH);
    expect((await store.save(bodyOf(3), 3)).ok).toBe(true);
    disk.fault = ({ operation }) => (operation === "link" ? { kind: "fail", code: "EEXIST" } : undefined);
    await expect(store.save(bodyOf(4), 4)).rejects.toThrow("EBUSY");
    expect(seqOf(store)).toBe(3);
  });
}

test("UC-5(a) on a full disk the old one stays, and saving works again when there is room", async () => {
  const disk = emptyHome();
  const store = new CheckpointStore(disk, new SimClock(), { ...FACTS, keep: VARIANTS.backup });
  await store.save(bodyOf(1), 1);
  disk.capacity = 2000;
  await expect(store.save(bodyOf(2), 2)).rejects.toThrow("ENOSPC");
  expect(seqOf(store)).toBe(1);
  disk.capacity = 20_000;
  expect((await store.save(bodyOf(3), 3)).ok).toBe(true);
  expect(seqOf(new CheckpointStore(disk.powerCut(nothing), new SimClock(), { ...FACTS, keep: VARIANTS.backup }))).toBe(
    3,
  );
});

test("UC-5(b) bytes that the disk changed are detected before the commit", async () => {
  const disk = emptyHome();
  const store = new CheckpointStore(disk, new SimClock(), { ...FACTS, keep: VARIANTS.backup });
  await store.save(bodyOf(1), 1);
  disk.onCall = ({ operation, path }) => {
    if (operation === "sync") disk.rot(path, 400, 1);
  };
  await expect(store.save(bodyOf(2), 2)).rejects.toThrow("verify");
  expect(seqOf(store)).toBe(1);
  expect(disk.list(DIRECTORY)).toEqual(["checkpoint.json"]);
});

test("a failed directory sync is never repeated: the store stays broken until the next start", async () => {
  const disk = emptyHome();
  const store = new CheckpointStore(disk, new SimClock(), { ...FACTS, keep: VARIANTS.backup });
  await store.save(bodyOf(1), 1);
  disk.fault = ({ operation }) => (operation === "syncDirectory" ? { kind: "fail", code: "EIO" } : undefined);
  await expect(store.save(bodyOf(2), 2)).rejects.toThrow("syncDirectory");
  disk.fault = undefined;
  await expect(store.save(bodyOf(3), 3)).rejects.toThrow("syncDirectory");
  expect(disk.fired.length).toBe(1);
});

test("after a commit whose directory could not be opened for the sync, another save works and keeps it", async () => {
  const disk = emptyHome();
  const store = new CheckpointStore(disk, new SimClock(), { ...FACTS, keep: VARIANTS.backup });
  await store.save(bodyOf(1), 1);
  disk.fault = ({ operation }) => (operation === "syncDirectory" ? { kind: "fail", code: "EMFILE" } : undefined);
  await expect(store.save(bodyOf(2), 2)).rejects.toThrow("EMFILE");
  disk.fault = undefined;
  await store.save(bodyOf(3), 3);
  const after = new CheckpointStore(disk.powerCut(nothing), new SimClock(), { ...FACTS, keep: VARIANTS.backup });
  expect([seqOf(after), after.listHistory()]).toMatchObject([3, [{ valid: true, seq: 2 }]]);
});

test("TC-8(b) an unreadable primary is passed over, and set aside by the next save", async () => {
  const disk = emptyHome();
  const options = { ...FACTS, keep: VARIANTS.backup };
  const store = new CheckpointStore(disk, new SimClock(), options);
  for (const seq of [1, 2]) await store.save(bodyOf(seq), seq);
  disk.fault = ({ operation, path }) =>
    operation === "read" && path === PATH ? { kind: "fail", code: "EIO" } : undefined;
  const next = new CheckpointStore(disk, new SimClock(), options);
  expect(next.load()).toMatchObject({ kind: "loaded", checkpoint: { seq: 1 }, problems: [{ code: "unreadable" }] });
  await next.save(bodyOf(3), 3);
  disk.fault = undefined;
  expect(seqOf(next)).toBe(3);
  expect(next.listHistory()).toMatchObject([{ valid: true, seq: 1 }]);
  expect(listQuarantine(disk, "/home").map(({ path }) => path)).toEqual([
    "/home/quarantine/checkpoint.json-unreadable-1",
  ]);
});

test("a lack of descriptors is not damage: load throws a Fault", async () => {
  const disk = emptyHome();
  const store = new CheckpointStore(disk, new SimClock(), { ...FACTS, keep: VARIANTS.backup });
  await store.save(bodyOf(1), 1);
  disk.fault = () => ({ kind: "fail", code: "EMFILE" });
  expect(() => store.load()).toThrow("EMFILE");
});

test("UC-5(c) processes that save to one place at the same time leave a whole checkpoint", async () => {
  const { disk, root } = place(DISKS["real"] ?? emptyHome);
  const options = `{ home: "${root}", path: "${root}/s/checkpoint.json", kind: "test", version: 1, fold: 1, keep: { backup: "${root}/s/checkpoint.backup.json" } }`;
  const program = `
    const { realDisk } = await import("${import.meta.dir}/../../world/real/disk.ts");
    const { CheckpointStore } = await import("${import.meta.dir}/store.ts");
    const clock = { now: () => Date.now(), elapsed: () => 0, sinceBoot: () => 0, after: () => () => {}, soon: () => {} };
    const store = new CheckpointStore(realDisk(), clock, ${options});
    for (let seq = 1; seq <= 40; seq += 1) {
      await store.save({ who: process.env.WHO, filler: process.env.WHO.repeat(20000) }, seq);
      const loaded = store.load();
      if (loaded.kind !== "loaded" || loaded.problems.length > 0) throw new Error(JSON.stringify(loaded));
    }`;
  const children = ["a", "b", "c"].map((WHO) =>
    Bun.spawn([process.execPath, "-e", program], { env: { ...process.env, WHO }, stderr: "inherit" }),
  );
  expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0]);
  const keep = { backup: `${root}/s/checkpoint.backup.json` };
  const store = new CheckpointStore(disk, new SimClock(), {
    ...FACTS,
    home: root,
    path: `${root}/s/checkpoint.json`,
    keep,
  });
  expect(store.load()).toMatchObject({ kind: "loaded", checkpoint: { seq: 40 }, problems: [] });
  expect(store.listHistory()).toMatchObject([{ valid: true }]);
  await store.save({}, 41);
  expect(disk.list(`${root}/s`).sort()).toEqual(["checkpoint.backup.json", "checkpoint.json"]);
  expect(disk.stat(`${root}/quarantine`)).toBeUndefined();
});
