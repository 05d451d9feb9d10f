// Tests of the process table, with real processes in it.
import { afterEach, describe, expect, test } from "bun:test";
import { findOrphans, type Marker } from "../../core/orphans.ts";
import { identify } from "../process.ts";
import { realProcesses } from "./process.ts";
import { listedIn } from "./process-list.ts";

const processes = realProcesses();
/** Other runs of this test may be in the same process table. */
const MINE = `mine-${process.pid}`;
const HOME = "a home";
const started: Bun.Subprocess[] = [];
const strays: number[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  for (const pid of strays.splice(0)) {
    const who = identify(processes, pid);
    if (who !== undefined) processes.kill(who, "SIGKILL");
  }
});

/** Runs a script in its own session; it prints a line of pids when it is ready. */
async function shell(
  script: string,
  marker: string,
): Promise<{ readonly child: Bun.Subprocess; readonly pids: number[] }> {
  const env = { PATH: process.env["PATH"] ?? "", HOLDFAST_TERMINAL: marker, HOLDFAST_HOME_ID: HOME };
  const child = Bun.spawn(["sh", "-c", script], { env, detached: true, stdio: ["ignore", "pipe", "ignore"] });
  started.push(child);
  const reader = child.stdout.getReader();
  let said = "";
  while (!said.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error("the script ended before it was ready");
    said += new TextDecoder().decode(value);
  }
  reader.releaseLock();
  const pids = said.trim().split(" ").map(Number);
  strays.push(...pids);
  return { child, pids };
}

describe("the table", () => {
  test("contains us, with our parent and our start time", () => {
    const us = processes.list().find(({ pid }) => pid === process.pid);
    expect(us).toMatchObject({ pid: process.pid, ppid: process.ppid, startTime: processes.startTime(process.pid) });
  });

  test("contains children by parent and session, without zombies", async () => {
    const { child, pids } = await shell("sleep 600 & echo $!; wait", "x");
    const [job = 0] = pids;
    const listed = processes.list().find(({ pid }) => pid === job);
    expect(listed).toMatchObject({ ppid: child.pid, session: child.pid });
    const zombie = "7 (a) b) Z 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 55 0";
    expect([listedIn(zombie, 7), listedIn(zombie.replace(" Z ", " S "), 7)]).toEqual([
      undefined,
      { pid: 7, ppid: 1, session: 7, startTime: 55 },
    ]);
  });

  test("gives the current time in the unit of start times", async () => {
    const before = processes.ticks();
    const { pids } = await shell("echo $$; exec sleep 600", "x");
    const at = processes.startTime(pids[0] ?? 0) ?? 0;
    expect(at).toBeGreaterThanOrEqual(before - 1);
    expect(at).toBeLessThanOrEqual(processes.ticks() + 1);
  });
});

describe("a variable", () => {
  test("is read from the process's initial environment", async () => {
    const { pids } = await shell("env -i /bin/sleep 600 & echo $$ $!; wait", "a=b");
    const [shellPid = 0, cleared = 0] = pids;
    expect(processes.variable(shellPid, "HOLDFAST_TERMINAL")).toBe("a=b");
    expect(processes.variable(shellPid, "HOLDFAST")).toBeUndefined();
    expect(processes.variable(shellPid, "OLDFAST_TERMINAL")).toBeUndefined();
    await isSleep(cleared);
    expect(processes.variable(cleared, "HOLDFAST_TERMINAL")).toBeUndefined();
  });

  test("of a process that is gone is undefined", () => {
    expect(processes.variable(2 ** 22 + 1, "PATH")).toBeUndefined();
  });
});

test("a shell's nohup, env -i and setsid children are found when the holder is killed", async () => {
  // The outer shell plays the holder, the inner one the terminal's shell.
  const jobs = "nohup sleep 600 >/dev/null 2>&1 & N=$!; env -i /bin/sleep 600 & E=$!";
  const inner = `${jobs}; setsid sleep 600 & S=$!; echo $$ $N $E $S; wait`;
  const { child, pids } = await shell(`setsid sh -c '${inner}'`, MINE);
  const [leader = 0, nohup = 0, cleared = 0, apart = 0] = pids;
  const record = { id: MINE, holder: identify(processes, child.pid), child: identify(processes, leader) };
  await isSleep(cleared);
  const seenAt = processes.ticks();
  const look = () => {
    const listed = processes.list();
    const markers = new Map(listed.flatMap(({ pid }) => markerOf(pid)));
    const table = { bootId: processes.bootId(), home: HOME, processes: listed, markers, spared: [] };
    return findOrphans(table, [{ ...record, startedHere: true, seenAt }]);
  };
  expect(look().ours).toEqual([]);
  child.kill("SIGKILL");
  await child.exited;
  if (record.child !== undefined) processes.kill(record.child, "SIGKILL");
  while (processes.startTime(leader) !== undefined) await Bun.sleep(1);
  const found = new Map(look().ours.map(({ who, by }) => [who.pid, by]));
  expect([nohup, cleared, apart].map((pid) => found.get(pid))).toEqual(["marker", "session", "marker"]);
  expect(found.size).toBe(3);
});

/**
 * `env` executes the program it starts: until then it still has its own initial environment, and while it is itself
 * being executed, none.
 */
async function isSleep(pid: number): Promise<void> {
  while (processes.foreground(pid)?.argv[0] !== "/bin/sleep") await Bun.sleep(1);
}

function markerOf(pid: number): [number, Marker][] {
  const terminal = processes.variable(pid, "HOLDFAST_TERMINAL");
  return terminal === undefined ? [] : [[pid, { terminal, home: processes.variable(pid, "HOLDFAST_HOME_ID") }]];
}
