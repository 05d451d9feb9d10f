// Tests of the checkpoint store on a good disk, real and simulated:
// what was saved is found again, and bad files are reported.
import { describe, expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { bytes, DISKS, get, type Place, places, put } from "../../../tests/world/places.ts";
import { listQuarantine } from "../file/quarantine.ts";
import type { Loaded } from "./load.ts";
import { type CheckpointOptions, CheckpointStore } from "./store.ts";

const place = places();
const make = () => new SimDisk();
const text = (found: Uint8Array | undefined): string => new TextDecoder().decode(found);

function optionsIn(root: string, more: Partial<CheckpointOptions> = {}): CheckpointOptions {
  const directory = `${root}/recovery`;
  const keep = { backup: `${directory}/checkpoint.backup.json` };
  return { home: root, path: `${directory}/checkpoint.json`, kind: "test", version: 1, fold: 1, keep, ...more };
}

const inHistory = (root: string, limit = 3) => ({ keep: { history: `${root}/recovery/history`, limit } });

function storeIn(
  { disk, root }: Place,
  more: Partial<CheckpointOptions> = {},
  clock = new SimClock(),
): CheckpointStore {
  return new CheckpointStore(disk, clock, optionsIn(root, more));
}

/** What was loaded, in short: seq, file and the codes of the problems. */
function said(loaded: Loaded): string {
  if (loaded.kind === "refused") return `refused ${loaded.refusal.code}`;
  const problems = loaded.problems.map(({ code }) => ` ${code}`).join("");
  if (loaded.kind === "none") return `none${problems}`;
  return `${loaded.checkpoint.seq} from ${loaded.from.split("/").at(-1)}${problems}`;
}

function overwrite({ disk, root }: Place, name: string, content: string): void {
  if (disk.stat(`${root}/recovery/${name}`) !== undefined) disk.unlink(`${root}/recovery/${name}`);
  put(disk, `${root}/recovery/${name}`, content);
}

for (const [name, makeDisk] of Object.entries(DISKS)) {
  describe(`on a ${name} disk`, () => {
    test("UC-4(c) directories are made, and the next process finds the checkpoint", async () => {
      const at = place(makeDisk);
      const saved = await storeIn(at).save({ sessions: ["ü"] }, 7);
      expect(saved.ok && saved.value.seq).toBe(7);
      const loaded = storeIn(at).load();
      expect(loaded).toMatchObject({
        kind: "loaded",
        checkpoint: { seq: 7, time: "2026-01-01T00:00:00.000Z", fold: 1, writtenAs: 1, body: { sessions: ["ü"] } },
        problems: [],
      });
    });

    test("TC-8(a,b,c) the backup is used if the primary is corrupt; if both are, this is reported", async () => {
      const at = place(makeDisk);
      const store = storeIn(at);
      for (const seq of [1, 2, 3]) await store.save({ seq }, seq);
      expect(at.disk.list(`${at.root}/recovery`).sort()).toEqual(["checkpoint.backup.json", "checkpoint.json"]);
      overwrite(at, "checkpoint.json", "{");
      expect(said(storeIn(at).load())).toBe("2 from checkpoint.backup.json garbage");
      overwrite(at, "checkpoint.backup.json", "");
      expect(said(storeIn(at).load())).toBe("none garbage empty");
      expect((await storeIn(at).save({}, 9)).ok).toBe(true);
      expect(said(storeIn(at).load())).toBe("9 from checkpoint.json");
      expect(listQuarantine(at.disk, at.root).length).toBe(2);
    });

    test("UC-4(b) a bounded history is kept, newest first, each one loadable", async () => {
      const at = place(makeDisk);
      const clock = new SimClock();
      const store = storeIn(at, inHistory(at.root), clock);
      for (const seq of [1, 2, 3, 4, 5, 6]) {
        clock.advance(1000);
        await store.save({ seq }, seq);
      }
      const history = store.listHistory();
      expect(history.map((one) => one.valid && one.seq)).toEqual([5, 4, 3]);
      expect(history[0]?.path).toBe(`${at.root}/recovery/history/checkpoint-2026-01-01T00-00-05.000Z.json`);
      expect([0, 2, 3].map((index) => said(store.loadFromHistory(index)).split(" ")[0])).toEqual(["5", "3", "none"]);
    });
  });
}

test("without any file there is no checkpoint and no problem", () => {
  expect(storeIn(place(make)).load()).toEqual({ kind: "none", problems: [] });
});

test("UC-7(d) a missing primary with older ones left is reported, not silently passed over", async () => {
  const at = place(make);
  const store = storeIn(at);
  for (const seq of [1, 2]) await store.save({}, seq);
  at.disk.unlink(`${at.root}/recovery/checkpoint.json`);
  expect(said(storeIn(at).load())).toBe("1 from checkpoint.backup.json missing");
});

test("TC-8(a) a corrupt primary never becomes the backup: it goes to quarantine, the good backup stays", async () => {
  const at = place(make);
  const store = storeIn(at);
  for (const seq of [1, 2]) await store.save({}, seq);
  overwrite(at, "checkpoint.json", "rubbish");
  await storeIn(at).save({}, 3);
  expect(storeIn(at).listHistory()).toMatchObject([{ valid: true, seq: 1 }]);
  const [item] = listQuarantine(at.disk, at.root);
  expect(item?.notes[0]).toMatchObject({
    from: `${at.root}/recovery/checkpoint.json`,
    reason: "it is not a checkpoint",
  });
  expect(get(at.disk, item?.path ?? "")).toBe("rubbish");
});

test("UC-7(d) corrupt ones in a history are passed over for the newest good one, and listed as bad", async () => {
  const at = place(make);
  const store = storeIn(at, inHistory(at.root, 5));
  for (const seq of [1, 2, 3, 4]) await store.save({}, seq);
  overwrite(at, "checkpoint.json", "x");
  overwrite(at, store.listHistory()[0]?.path.slice(`${at.root}/recovery/`.length) ?? "", "y");
  expect(said(store.load())).toMatch(/^2 from .* garbage garbage$/);
  expect(store.listHistory().map(({ valid }) => valid)).toEqual([false, true, true]);
});

test("UC-4(b) saves in the same millisecond, or after the clock was set back, keep their order", async () => {
  const at = place(make);
  const clock = new SimClock();
  const store = storeIn(at, inHistory(at.root, 20), clock);
  for (let seq = 1; seq <= 12; seq += 1) {
    if (seq === 6) clock.jump(-3_600_000);
    await store.save({}, seq);
  }
  expect(store.listHistory().map((one) => one.valid && one.seq)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  await storeIn(at, inHistory(at.root, 2), clock).save({}, 13);
  expect(store.listHistory().map((one) => one.valid && one.seq)).toEqual([12, 11]);
});

describe("versions", () => {
  const migrations = { 1: (body: unknown) => ({ was: body }), 2: (body: unknown) => [body] };

  test("an old one is migrated step by step, and the file is not changed", async () => {
    const at = place(make);
    await storeIn(at).save({ old: true }, 1);
    const before = get(at.disk, `${at.root}/recovery/checkpoint.json`);
    const loaded = storeIn(at, { version: 3, migrations }).load();
    expect(loaded).toMatchObject({ kind: "loaded", checkpoint: { writtenAs: 1, body: [{ was: { old: true } }] } });
    expect(get(at.disk, `${at.root}/recovery/checkpoint.json`)).toBe(before);
  });

  test("a missing or failing migration is a problem; the next save puts the original into quarantine", async () => {
    const throws = () => {
      throw new Error("no such field");
    };
    for (const [steps, word] of [
      [{ 2: throws }, "none no-migration"],
      [{ 1: throws }, "none migration-failed"],
    ] as const) {
      const at = place(make);
      await storeIn(at).save({ old: true }, 1);
      const before = get(at.disk, `${at.root}/recovery/checkpoint.json`);
      const store = storeIn(at, { version: 3, migrations: steps });
      expect(said(store.load())).toBe(word);
      for (const seq of [2, 3, 4]) await store.save({}, seq);
      expect(listQuarantine(at.disk, at.root).map(({ path }) => get(at.disk, path))).toEqual([before]);
    }
  });

  test("TC-6(c) a newer one is refused with both numbers and a hint, and is never overwritten", async () => {
    for (const name of ["checkpoint.json", "checkpoint.backup.json"]) {
      const at = place(make);
      const newer = storeIn(at, { version: 9 });
      for (const seq of [1, 2]) await newer.save({}, seq);
      if (name === "checkpoint.backup.json") at.disk.unlink(`${at.root}/recovery/checkpoint.json`);
      const before = get(at.disk, `${at.root}/recovery/${name}`);
      const store = storeIn(at);
      const loaded = store.load();
      expect(loaded.kind === "refused" && loaded.refusal.message).toBe(
        `${name} has version 9; this program knows versions up to 1`,
      );
      expect(loaded.kind === "refused" && loaded.refusal.hint).toContain("Run the newer holdfast");
      const saved = await store.save({}, 3);
      expect(saved.ok ? "" : saved.error.code).toBe("NEWER_VERSION");
      expect(get(at.disk, `${at.root}/recovery/${name}`)).toBe(before);
    }
  });
});

test("a checkpoint made by other rules is a problem, and the caller folds again; it is still kept", async () => {
  const at = place(make);
  await storeIn(at).save({}, 1);
  const store = storeIn(at, { fold: 2 });
  expect(said(store.load())).toBe("none other-rules");
  await store.save({}, 2);
  expect(said(store.load())).toBe("2 from checkpoint.json");
  expect(said(storeIn(at).load())).toBe("1 from checkpoint.backup.json other-rules");
});

test("UC-5(c) concurrent saves run one after another, and each body is as it was at the call", async () => {
  const at = place(make);
  const store = storeIn(at, inHistory(at.root, 50));
  const body = { count: 0 };
  const saves = Array.from({ length: 20 }, (_, index) => {
    body.count = index + 1;
    return store.save(body, index + 1);
  });
  expect((await Promise.all(saves)).every(({ ok }) => ok)).toBe(true);
  expect(storeIn(at).load()).toMatchObject({ checkpoint: { seq: 20, body: { count: 20 } } });
  expect(store.listHistory().map((one) => one.valid && one.seq)).toEqual(Array.from({ length: 19 }, (_, i) => 19 - i));
});

test.each(["rename", "makeDirectory"])(
  "P6 after a failed sync that follows a %s, nothing more is saved in this process",
  async (after) => {
    const disk = new SimDisk();
    disk.plant("/home/x", bytes(""));
    const at = { disk, root: "/home" };
    const store = storeIn(at);
    if (after === "rename") expect((await store.save({}, 1)).ok).toBe(true);
    disk.fault = ({ operation }) => (operation === "syncDirectory" ? { kind: "fail", code: "EIO" } : undefined);
    expect(await store.save({}, 2).catch((error) => error.code)).toBe("EIO");
    disk.fault = undefined;
    const calls = disk.calls;
    expect(await store.save({}, 3).catch((error) => error.code)).toBe("EIO");
    expect(disk.calls).toBe(calls);
    expect((await storeIn(at).save({}, 3)).ok).toBe(true); // The next process can.
  },
);

test("too many waiting saves are refused, so that memory is bounded", async () => {
  const store = storeIn(place(make));
  const saves = await Promise.all(Array.from({ length: 100 }, (_, seq) => store.save({}, seq)));
  expect(saves.filter(({ ok }) => !ok).length).toBe(36);
  expect((await store.save({}, 101)).ok).toBe(true);
});

test("a body that is not JSON is a bug in the caller, and leaves the checkpoint unchanged", async () => {
  const at = place(make);
  const store = storeIn(at);
  await store.save({}, 1);
  await expect(store.save(undefined, 2)).rejects.toThrow("broken promise");
  expect(said(store.load())).toBe("1 from checkpoint.json");
});

test("TC-2(a) it matches the documentation byte by byte", async () => {
  const at = place(make);
  await storeIn(at).save({ a: 1 }, 5);
  const head = '{"kind":"test","version":1,"fold":1,"seq":5,"time":"2026-01-01T00:00:00.000Z",';
  const file = get(at.disk, `${at.root}/recovery/checkpoint.json`);
  expect(file.replace(/"sha256":"[0-9a-f]{64}",/, "")).toBe(`${head}"body":{"a":1}}\n`);
  expect(text(bytes(file))).toBe(file);
});
