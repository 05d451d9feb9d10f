// Claims about the machine's own clock, random and world, and about how its failures are reported.
import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "../../src/base/fault.ts";
import { identify } from "../../src/world/process.ts";
import { asFault, attempt, unless } from "../../src/world/real/attempt.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { realWorld } from "../../src/world/world.ts";

test("a timer fires once after its time, unless it is called off", async () => {
  const clock = realClock();
  const start = clock.elapsed();
  let wrong = 0;
  clock.after(1, () => {
    wrong += 1;
  })();
  await new Promise<void>((done) => clock.after(5, done));
  expect(clock.elapsed() - start).toBeGreaterThanOrEqual(4);
  expect(wrong).toBe(0);
});

test("a timer of a year does not fire at once", async () => {
  const clock = realClock();
  let fired = false;
  const cancel = clock.after(366 * 86_400_000, () => {
    fired = true;
  });
  await new Promise<void>((done) => clock.after(5, done));
  cancel();
  expect(fired).toBe(false);
});

test("a timer does not keep the process alive", async () => {
  const script = `
    import { realClock } from "${import.meta.dir}/../../src/world/real/clock.ts";
    realClock().after(600_000, () => undefined);
  `;
  expect(await Bun.spawn([process.execPath, "-e", script]).exited).toBe(0);
});

test("`soon` runs after pending promises", async () => {
  const seen: string[] = [];
  const soon = new Promise<void>((done) =>
    realClock().soon(() => {
      seen.push("soon");
      done();
    }),
  );
  await Promise.resolve().then(() => seen.push("promise"));
  await soon;
  expect(seen).toEqual(["promise", "soon"]);
});

test("random numbers are in [0, 1) and bytes are as many as asked for", () => {
  const random = realRandom();
  const draws = Array.from({ length: 100 }, () => random.fraction());
  expect(draws.every((draw) => draw >= 0 && draw < 1)).toBe(true);
  expect(random.bytes(16).length).toBe(16);
  expect(random.bytes(16)).not.toEqual(random.bytes(16));
});

test("the real world knows this process and the time", () => {
  const { processes, clock, disk } = realWorld();
  expect(processes.pid).toBe(process.pid);
  expect(processes.startTime(process.pid)).toBeGreaterThan(0);
  expect(processes.bootId()).toMatch(/^[0-9a-f-]{36}$/);
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000);
  expect(disk.stat("/dev/null")?.kind).toBe("other");
});

test("only system errors become Faults; our own bugs are left as they are", () => {
  const bug = new TypeError("ours");
  expect(asFault(bug, "read", "/x")).toBe(bug);
  expect(asFault("a string", "read", "/x")).toBe("a string");
  expect(() => attempt("read", "/x", () => realWorld().disk.open("/none/x", "read"))).toThrow(Fault);
  const refuse = (): number => {
    throw new Fault({ code: "EACCES", operation: "open", path: "/x" });
  };
  expect(unless(["EACCES"], 1, refuse)).toBe(1);
  expect(() => unless(["ENOENT"], 1, refuse)).toThrow(Fault);
});

test("P1 a process is identified by its start time and boot as well: if one of them differs, it is another one", () => {
  const { processes } = realWorld();
  const me = identify(processes, process.pid) ?? { pid: 0, startTime: 0, bootId: "" };
  expect(processes.alive(me)).toBe(true);
  for (const other of [
    { ...me, bootId: "another" },
    { ...me, startTime: me.startTime + 1 },
  ])
    expect([processes.alive(other), processes.kill(other, "SIGCONT")]).toEqual([false, false]);
});

/** Our descriptors of this file. */
function descriptorsOf(path: string): number {
  const targets = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ""; // The descriptor of the listing itself.
    }
  });
  return targets.filter((target) => target === path).length;
}

test("R2 a file that is closed during a sync keeps its descriptor until the sync has ended", async () => {
  const directory = mkdtempSync(join(tmpdir(), "hfsync-"));
  const path = join(directory, "file");
  const file = realWorld().disk.open(path, "create");
  file.write(Buffer.from("x"), 0);
  const syncing = file.sync();
  file.close();
  expect(descriptorsOf(path)).toBe(1);
  await syncing;
  expect(descriptorsOf(path)).toBe(0);
  rmSync(directory, { recursive: true });
});
