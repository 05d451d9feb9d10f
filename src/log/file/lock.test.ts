// Tests of the lock: one owner at a time, whatever the file contains, and nothing to clean up after a dead one.
import { describe, expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { bytes, DISKS, faultOf, get, places, put } from "../../../tests/world/places.ts";
import { takeLock } from "./lock.ts";

const place = places();
const clock = new SimClock();
const first = { pid: 11, startTime: 1000, bootId: "boot-a" };
const second = { pid: 22, startTime: 2000, bootId: "boot-a" };

for (const [name, make] of Object.entries(DISKS)) {
  describe(`on a ${name} disk`, () => {
    test("a second owner is refused with the pid of the first", () => {
      const { disk, root } = place(make);
      const held = takeLock({ disk, clock }, `${root}/daemon.lock`, first);
      const refusal = takeLock({ disk, clock }, `${root}/daemon.lock`, second);
      expect(held.ok).toBe(true);
      expect(refusal.ok ? "" : refusal.error.message).toBe("daemon.lock is held by process 11");
      expect(refusal.ok ? "" : refusal.error.code).toBe("LOCKED");
    });

    test("the record contains pid, start time, boot id, time, and the file that it is in", () => {
      const { disk, root } = place(make);
      takeLock({ disk, clock }, `${root}/daemon.lock`, first);
      const file = disk.stat(`${root}/daemon.lock`)?.id;
      const record = { ...first, at: "2026-01-01T00:00:00.000Z", file: file ?? "none" };
      expect(JSON.parse(get(disk, `${root}/daemon.lock`))).toEqual(record);
    });

    test("a released lock is free, its file stays, and a shorter record leaves nothing of a longer one", () => {
      const { disk, root } = place(make);
      const held = takeLock({ disk, clock }, `${root}/l`, { ...first, bootId: "a much longer boot id than the next" });
      if (held.ok) held.value.release();
      if (held.ok) held.value.release();
      expect(disk.list(root)).toEqual(["l"]);
      expect(takeLock({ disk, clock }, `${root}/l`, second).ok).toBe(true);
      expect(JSON.parse(get(disk, `${root}/l`)).pid).toBe(22);
    });

    test("a file left behind is not a lock, whatever it contains", () => {
      const { disk, root } = place(make);
      for (const left of ["", '{"pid":11}', "garbage", "null"]) {
        put(disk, `${root}/l${left.length}`, left);
        expect(takeLock({ disk, clock }, `${root}/l${left.length}`, second).ok).toBe(true);
      }
    });

    test("an owner whose record cannot be read is still the owner", () => {
      const { disk, root } = place(make);
      for (const record of ["{", "null", '{"pid":"x"}']) {
        const path = `${root}/l${record.length}`;
        takeLock({ disk, clock }, path, first);
        const file = disk.open(path, "write");
        file.truncate(0);
        file.write(bytes(record), 0);
        const refusal = takeLock({ disk, clock }, path, second);
        expect(refusal.ok ? "" : refusal.error.message).toContain("is held by another process");
      }
    });
  });
}

test("a full disk does not prevent taking the lock", () => {
  const disk = new SimDisk();
  disk.capacity = 0;
  expect(takeLock({ disk, clock }, "/l", first).ok).toBe(true);
  expect(disk.fired.length).toBeGreaterThan(0);
  const refusal = takeLock({ disk, clock }, "/l", second);
  expect(refusal.ok ? "" : refusal.error.message).toBe("l is held by another process");
});

test("L4 a record that found no room is written later, once there is", () => {
  const disk = new SimDisk();
  disk.capacity = 0;
  const held = takeLock({ disk, clock }, "/l", first);
  if (held.ok) held.value.record();
  expect(get(disk, "/l")).toBe("");
  disk.capacity = Number.POSITIVE_INFINITY;
  if (held.ok) held.value.record();
  expect(JSON.parse(get(disk, "/l"))).toMatchObject(first);
  const written = disk.stat("/l");
  if (held.ok) held.value.record();
  expect(disk.stat("/l")).toEqual(written);
});

test("a failing lock call is a Fault, and leaves no file open", () => {
  const disk = new SimDisk();
  disk.fault = ({ operation }) => (operation === "tryLock" ? { kind: "fail", code: "ENOLCK" } : undefined);
  expect(faultOf(() => takeLock({ disk, clock }, "/l", first))).toBe("tryLock l ENOLCK");
  expect(disk.openCount).toBe(0);
});

test("the lock of a process killed with SIGKILL is free at once", async () => {
  const { disk, root } = place(DISKS["real"] ?? (() => new SimDisk()));
  const path = `${root}/daemon.lock`;
  const program = `
    const { realDisk } = await import("${import.meta.dir}/../../world/real/disk.ts");
    const { takeLock } = await import("${import.meta.dir}/lock.ts");
    const clock = { now: () => 0, elapsed: () => 0, sinceBoot: () => 0, after: () => () => {}, soon: () => {} };
    console.log(takeLock({ disk: realDisk(), clock }, process.env.LOCK, { pid: process.pid, startTime: 1, bootId: "b" }).ok);
    setInterval(() => {}, 1000);`;
  await using child = Bun.spawn([process.execPath, "-e", program], {
    env: { ...process.env, LOCK: path },
    stdout: "pipe",
  });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value).trim()).toBe("true");
  const refusal = takeLock({ disk, clock }, path, second);
  expect(refusal.ok ? "" : refusal.error.message).toBe(`daemon.lock is held by process ${child.pid}`);
  child.kill("SIGKILL");
  await child.exited;
  expect(takeLock({ disk, clock }, path, second).ok).toBe(true);
});
