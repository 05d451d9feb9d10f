// Claims that need a second real process: locks between processes, descriptors and identities across them.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identify } from "../../src/world/process.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { tryFlock } from "../../src/world/real/flock.ts";
import { startTimeIn } from "../../src/world/real/identities.ts";
import { realProcesses } from "../../src/world/real/process.ts";

const scratch = mkdtempSync(join(tmpdir(), "holdfast-flock-"));
afterAll(() => rmSync(scratch, { recursive: true }));

const OWNER = `
  import { realDisk } from "${import.meta.dir}/../../src/world/real/disk.ts";
  const file = realDisk().open(process.argv.at(-1), "create");
  console.log(file.tryLock());
  setInterval(() => file.size(), 1000);
`;

/** Another process that tries for the lock, says whether it got it, and stays. */
async function owner(path: string) {
  const child = Bun.spawn([process.execPath, "-e", OWNER, path], { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  return { child, locked: new TextDecoder().decode(value).trim() };
}

test("a lock held by another process is refused, and is free the moment that process is killed", async () => {
  const path = join(scratch, "one.lock");
  const { child, locked } = await owner(path);
  expect(locked).toBe("true");
  const file = realDisk().open(path, "create");
  expect(file.tryLock()).toBe(false);
  child.kill("SIGKILL");
  await child.exited;
  expect(file.tryLock()).toBe(true);
  const second = await owner(path);
  expect(second.locked).toBe("false");
  second.child.kill("SIGKILL");
  await second.child.exited;
  file.close();
});

test("a lock that fails for any other reason is a Fault, not a no", () => {
  expect(() => tryFlock(-1, "/x")).toThrow("tryLock /x: EBADF");
});

test("a child inherits neither the descriptor nor the lock", async () => {
  const path = join(scratch, "two.lock");
  const disk = realDisk();
  const file = disk.open(path, "create");
  expect(file.tryLock()).toBe(true);
  const child = Bun.spawn(["sh", "-c", "ls -l /proc/$$/fd; read _"], { stdin: "pipe", stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).not.toContain("two.lock");
  file.close();
  const next = disk.open(path, "write");
  expect(next.tryLock()).toBe(true);
  next.close();
  child.kill("SIGKILL");
  await child.exited;
});

test("close waits for a sync in progress, which still succeeds", async () => {
  const disk = realDisk();
  const file = disk.open(join(scratch, "synced"), "create");
  file.write(new Uint8Array(100_000), 0);
  const syncs = [file.datasync(), file.sync()];
  file.close();
  disk.open(join(scratch, "takes the next descriptor"), "create").close();
  expect(await Promise.all(syncs)).toEqual([undefined, undefined]);
});

test("a process is alive until it is killed, and a zombie or a stranger is not it", async () => {
  const processes = realProcesses();
  const child = Bun.spawn(["sleep", "1000"]);
  const who = identify(processes, child.pid);
  if (who === undefined) throw new Error("the child was not found");
  expect([processes.alive(who), processes.isTaken(who.pid)]).toEqual([true, true]);
  expect(processes.alive({ ...who, startTime: who.startTime + 1 })).toBe(false);
  expect(processes.alive({ ...who, bootId: "another boot" })).toBe(false);
  expect(processes.kill({ ...who, startTime: 1 }, "SIGKILL")).toBe(false);
  expect(processes.kill(who, "SIGKILL")).toBe(true);
  await child.exited;
  expect(processes.alive(who)).toBe(false);
  expect(processes.kill(who, "SIGTERM")).toBe(false);
  expect(processes.startTime(2 ** 22 + 1)).toBeUndefined();
  expect(processes.isTaken(2 ** 22 + 1)).toBe(false);
});

/** Of /proc/PID/stat: fields are their own numbers, but for the name, the state and the threads. */
const line = (name: string, state: string, threads: number): string =>
  `7 (${name}) ${state} ${Array.from({ length: 40 }, (_, at) => (at + 4 === 20 ? threads : at + 4)).join(" ")}`;

test("the start time is found behind any name a program gives itself", () => {
  for (const name of ["sh", "a b", ") Z 1 (", "((", "x) S 2"]) expect(startTimeIn(line(name, "S", 3))).toBe(22);
});

test("a zombie is gone when the last of its threads is: until then it has its files and locks", () => {
  expect([1, 0].map((threads) => startTimeIn(line("sh", "Z", threads)))).toEqual([undefined, undefined]);
  expect(startTimeIn(line("sh", "Z", 2))).toBe(22);
  expect(startTimeIn(line("sh", "X", 2))).toBeUndefined();
});
