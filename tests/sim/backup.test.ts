// Backups on a disk that forgets what was not synced: crashes before every call, a full disk at every write, and a
// writer that goes on while its home is read.
import { expect, test } from "bun:test";
import { ok } from "../../src/base/result.ts";
import { LogView } from "../../src/log/inspect.ts";
import {
  AGENT,
  append,
  backUp,
  COPY,
  expectNothingLeft,
  FILE,
  filesBelow,
  HOME,
  isWhole,
  openLog,
  put,
  restoreTo,
  smallHome,
  TERMINAL,
} from "./backup.ts";
import { SimDisk } from "./disk.ts";
import { everyCrash } from "./every-crash.ts";
import { everything } from "./survive.ts";

const PRINTED = `${TERMINAL}/tape/0000000000000000.seg`;

test("a crash before any call of a backup leaves the whole file or none, and the next one cleans up", async () => {
  const start = new SimDisk();
  await smallHome(start, 6);
  const survived = await everyCrash<boolean>({
    start: start.powerCut(everything),
    nothingPromised: false,
    randomEndings: 3,
    takesLong: true,
    live: async (disk, promised) => {
      const done = await backUp(disk);
      if (!done.ok) throw new Error(done.error.message);
      promised(true);
    },
    check: async (disk, promised) => {
      const isThere = disk.stat(FILE) !== undefined;
      if (promised && !isThere) throw new Error("a backup that was reported is gone");
      if (isThere) await isWhole(disk);
      const again = await backUp(disk, { force: true });
      expect(again.ok).toBe(true);
      await isWhole(disk);
      expectNothingLeft(disk);
    },
  });
  expect(survived).toBeGreaterThan(30);
});

test("a crash before any call of a restoration leaves the whole home or none, and the next one cleans up", async () => {
  const start = new SimDisk();
  await smallHome(start, 6);
  expect((await backUp(start)).ok).toBe(true);
  const alone = start.fork();
  expect((await restoreTo(alone)).ok).toBe(true);
  const whole = filesBelow(alone, COPY);
  expect(whole[PRINTED]).toBe("what was printed");
  expect(Object.keys(whole).filter((path) => /^run\/|\.tmp$|\.lock$/.test(path))).toEqual([]);
  const survived = await everyCrash<boolean>({
    start: start.powerCut(everything),
    nothingPromised: false,
    randomEndings: 3,
    takesLong: true,
    live: async (disk, promised) => {
      const done = await restoreTo(disk);
      if (!done.ok) throw new Error(done.error.message);
      promised(true);
    },
    check: async (disk, promised) => {
      if (promised && disk.stat(COPY) === undefined) throw new Error("a home that was reported is gone");
      if (disk.stat(COPY) === undefined) expect((await restoreTo(disk)).ok).toBe(true);
      expect(filesBelow(disk, COPY)).toEqual(whole);
      expect(disk.list("/").filter((name) => name.endsWith(".restoring"))).toEqual([]);
    },
  });
  expect(survived).toBeGreaterThan(50);
});

test("a disk that is full at any write of a backup or a restoration is reported, and nothing is left", async () => {
  const start = new SimDisk();
  await smallHome(start, 6);
  const made = start.fork();
  expect((await backUp(made)).ok).toBe(true);
  for (const [disk, work] of [
    [start, () => backUp],
    [made, () => restoreTo],
  ] as const) {
    let fired = 0;
    for (let at = 0; ; at += 1) {
      const twin = disk.fork();
      let writes = 0;
      twin.fault = ({ operation }) =>
        operation === "write" && writes++ === at ? { kind: "fail", code: "ENOSPC" } : undefined;
      const failed = await (work()(twin) as Promise<unknown>).then(
        () => undefined,
        (error: unknown) => String(error),
      );
      if (writes <= at) break;
      fired += 1;
      expect(failed).toContain("ENOSPC");
      expect([twin.stat(COPY), twin.stat(`${COPY}.restoring`)]).toEqual([undefined, undefined]);
      expectNothingLeft(twin);
    }
    expect(fired).toBeGreaterThan(3);
  }
});

test("a backup beside a writer has every entry up to its position and none after it", async () => {
  const disk = new SimDisk();
  const log = await smallHome(disk, 40);
  log.still.keepNames(true);
  let [held, tries] = [0, 0];
  const more = () => append(log, [AGENT, TERMINAL][tries++ % 2] ?? AGENT, `later ${tries} ${"x".repeat(300)}`);
  const hold = {
    begin: async () => ok(undefined),
    hold: async () => {
      for (let n = 0; n < 60; n += 1) await more();
      await log.drain();
      await more();
      await log.still.hold();
      held = log.durable;
      void more(); // Waits.
      put(disk, `${HOME}/${TERMINAL}/exit.json`, "{}");
      return ok(undefined);
    },
    release: async () => {
      log.still.release();
      for (let n = 0; n < 60; n += 1) await more();
      await log.drain();
      put(disk, `${HOME}/${PRINTED}`, "what was printed, and more");
      put(disk, `${HOME}/${AGENT}/checkpoint.json`, "later");
      return ok(undefined);
    },
    end: async () => undefined,
  };
  const done = await backUp(disk, {}, hold);
  expect(done).toMatchObject({ ok: true, value: { seq: held, lost: 0 } });
  expect((await restoreTo(disk)).ok).toBe(true);
  const inspection = new LogView(disk, COPY).inspect();
  expect(inspection.findings).toEqual([]);
  expect(inspection.wal.end).toBe(held);
  const seqs = inspection.sessions.reduce((sum, { entries }) => sum + entries, 0);
  expect(seqs).toBe(held);
  const files = filesBelow(disk, COPY);
  expect(files[PRINTED]).toBe("what was printed, and more");
  expect(files[`${TERMINAL}/exit.json`]).toBe("{}");
  expect(files[`${AGENT}/checkpoint.json`]).toBeUndefined();
});

test("a session that is brought back from the archive while the log is held is in the backup once", async () => {
  const disk = new SimDisk();
  await (await smallHome(disk, 6)).close();
  const [living, archived] = [`${HOME}/${AGENT}`, `${HOME}/agents/_${AGENT.slice(7)}`];
  disk.rename(living, archived);
  let lists = 0;
  const hold = {
    begin: async () => ok(undefined),
    hold: async () => {
      disk.onCall = ({ operation, path }) => {
        if (operation === "list" && path === archived && lists++ === 0) disk.rename(archived, living);
      };
      return ok(undefined);
    },
    release: async () => ok(undefined),
    end: async () => undefined,
  };
  expect((await backUp(disk, {}, hold)).ok).toBe(true);
  expect(lists).toBeGreaterThan(0);
  disk.onCall = undefined;
  expect((await restoreTo(disk)).ok).toBe(true);
  expect(disk.list(`${COPY}/agents`)).toEqual([AGENT.slice(7)]);
  expect(new LogView(disk, COPY).inspect()).toMatchObject({ findings: [], sessions: [{ entries: 3 }, { entries: 3 }] });
});

test("a restored home accepts more entries", async () => {
  const disk = new SimDisk();
  await smallHome(disk, 6);
  await backUp(disk);
  await restoreTo(disk, HOME.replace("home", "second"));
  disk.rename(HOME, "/gone");
  disk.rename("/second", HOME);
  const log = await openLog(disk);
  expect(log.report).toMatchObject({ lost: [], frozen: [], torn: [], walMissing: false });
  expect(await append(log, AGENT, "the next")).toBe(7);
});
