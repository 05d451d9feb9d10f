// Effects without an outcome are done again, but never twice: the daemon is killed at every step of a terminal's start.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { realDisk } from "../../src/world/real/disk.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { until } from "../until.ts";
import { type DaemonHome, daemonHomes } from "./home.ts";

const newHome = daemonHomes();

/** Facts in the order in which a start produces them; the first is the acknowledgement itself. */
const MOMENTS: Readonly<Record<string, (home: DaemonHome, id: string) => boolean>> = {
  acknowledged: () => true,
  "its directory is there": (home, id) => existsSync(home.file(`terminals/${id}`)),
  "its spec is there": (home, id) => existsSync(home.file(`terminals/${id}/holder.json`)),
  "its holder runs": (home, id) => home.ours().some((pid) => home.commandOf(pid).endsWith(`terminals/${id}\0`)),
  "its socket is there": (home, id) => existsSync(home.file(`run/${id.slice(0, 16)}.sock`)),
  "its claim is being made": (home, id) =>
    realDisk()
      .list(home.file(`terminals/${id}`)) // Empty until it exists.
      .some((name) => name.includes("claim")),
  "it is claimed": (home, id) => home.claim(id) !== undefined,
  "its program runs": (home, id) => home.text(`ran-${id}`) !== "",
};

const PROGRAM = ["sh", "-c", 'echo $$ >> "ran-$HOLDFAST_TERMINAL"; exec sleep 1000'];

test("killed at eight moments of a start, the daemon finishes it, and exactly one program ever ran", async () => {
  const home = newHome();
  let daemon = await home.live();
  const ids: string[] = [];
  for (const [moment, holds] of Object.entries(MOMENTS)) {
    for (let time = 0; time < amount(1, 2); time += 1) {
      const id = await home.open(`t${ids.length}`, PROGRAM);
      ids.push(id);
      await until(
        moment,
        () => holds(home, id) || home.text(`ran-${id}`) !== "",
        () => [holds(home, id), home.text(`ran-${id}`)],
      );
      await home.kill(daemon);
      daemon = await home.live();
    }
  }
  for (const id of ids) {
    const { pid, holder } = await home.is(id, "running");
    await until(
      "its program has said who it is",
      () => home.text(`ran-${id}`) !== "",
      () => home.text(`ran-${id}`),
    );
    expect(home.text(`ran-${id}`)).toBe(`${pid}\n`);
    expect(home.claim(id)).toMatchObject({ by: "holder", pid: holder });
  }
  const programs = () => home.ours().filter((pid) => home.commandOf(pid).startsWith("sleep\0"));
  await until(
    "each has become a sleep",
    () => programs().length >= ids.length,
    () => programs().length,
  ); // It says who it is a moment before.
  expect(programs().length).toBe(ids.length);
});

test("RS-4(a) killed again and again during recovery, it still reaches the same state", async () => {
  const home = newHome();
  await home.kill(await home.live());
  const first = await home.live();
  const ids = await Promise.all([1, 2, 3].map((n) => home.open(`t${n}`, PROGRAM)));
  await home.kill(first);
  for (const stage of ["DETECTING", "INVENTORYING", "RESTORING", "RECONCILING", "LIVE"]) {
    const next = home.start();
    await until(
      `${stage} or later`,
      () => stageOf(home) >= STAGES.indexOf(stage) || next.process.exitCode !== null,
      () => [stageOf(home), next.process.exitCode],
    );
    await home.kill(next);
  }
  await home.live();
  for (const id of ids) {
    const { pid } = await home.is(id, "running");
    await until(
      "its program has said who it is",
      () => home.text(`ran-${id}`) !== "",
      () => home.text(`ran-${id}`),
    );
    expect(home.text(`ran-${id}`)).toBe(`${pid}\n`);
  }
});

const STAGES = ["CRASHED", "DETECTING", "INVENTORYING", "RESTORING", "RECONCILING", "LIVE"];

function stageOf(home: DaemonHome): number {
  const stage = /"stage":"(\w+)"/.exec(home.text("recovery/recovery-state.json"))?.[1] ?? "";
  return STAGES.indexOf(stage);
}

test("an acknowledged signal is sent although the daemon died before it could send it", async () => {
  const home = newHome();
  for (let round = 0; round < 3; round += 1) {
    const daemon = await home.live();
    const id = await home.open(`t${round}`, ["sleep", "1000"]);
    await home.is(id, "running");
    await home.must("terminal.signal", { id, signal: "SIGTERM" });
    await home.kill(daemon);
    const next = await home.live();
    expect(await home.is(id, "ended")).toMatchObject({ signal: "SIGTERM" });
    await home.kill(next);
  }
});

test("RS-7(a) 25 terminals: crash to live in far less than 10 s, and every child keeps its pid", async () => {
  const home = newHome();
  const daemon = await home.live();
  const ids = await Promise.all(Array.from({ length: 25 }, (_, n) => home.open(`t${n}`, ["sleep", "1000"])));
  const before = await Promise.all(ids.map((id) => home.is(id, "running")));
  const begun = performance.now();
  await home.kill(daemon);
  const next = home.start();
  const status = await home.isLive(next);
  const took = performance.now() - begun;
  console.log(`RS-7: 25 terminals, SIGKILL to LIVE: ${took.toFixed(0)} ms`);
  expect(status.counts.terminals).toBe(25);
  expect(await Promise.all(ids.map(async (id) => (await home.listed(id)).state))).toEqual(before);
  const { items } = await home.report();
  expect(items.map(({ fate }) => fate)).toEqual(ids.map(() => "back as it was"));
  expect(took).toBeLessThan(10_000);
});

/** Of docs/BENCHMARKS.md for 25 terminals: its 95th percentile. The median's, 400 ms, is for a machine at rest. */
const OUR_BAR_MS = 1_000;

test("RS-7(b) 25 terminals: the best of five crashes is live again within our own bar", async () => {
  const home = newHome();
  let daemon = await home.live();
  await Promise.all(Array.from({ length: 25 }, (_, n) => home.open(`t${n}`, ["sleep", "1000"])));
  const times: number[] = [];
  for (let life = 0; life < 5; life += 1) {
    const begun = performance.now();
    await home.kill(daemon);
    daemon = home.start();
    expect((await home.isLive(daemon)).counts.terminals).toBe(25);
    times.push(performance.now() - begun);
  }
  expect(Math.min(...times)).toBeLessThan(OUR_BAR_MS);
});
