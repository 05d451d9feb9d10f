// What a shell step waits for the disk for, counted on the real daemon and its holders.
import { expect, test } from "bun:test";
import { FlushTrace } from "../../bench/flushes.ts";
import { tryStrace } from "../crash/strace.ts";
import { daemonHomes } from "../daemon/home.ts";
import { Runs } from "./runs.ts";

const newHome = daemonHomes();
const strace = tryStrace();
if (!strace.ok) console.error(`skipped: the flushes of a shell step: ${strace.why}`);

const STEPS = 20;
const flow = (steps: number) => `name: quiet\nsteps:\n${'  - shell: "true"\n'.repeat(steps)}`;

test.skipIf(!strace.ok)(
  "a shell step flushes twice for claim and exit, and otherwise only for the log (needs strace)",
  async () => {
    const home = newHome();
    const daemon = await home.live();
    const runs = new Runs(home);
    const trace = await FlushTrace.attach(daemon.process.pid, home.file("trace"));
    await runs.is(await runs.begin(flow(1)), "done"); // Makes what all later runs use.
    const before = trace.count;
    await runs.is(await runs.begin(flow(STEPS)), "done");
    const paths = await trace.end(before);
    const of = (part: RegExp) => paths.filter((path) => part.test(path)).length;
    expect([of(/\/journals\/\d{4}\.journal$/), of(/\/attempts\//)]).toEqual([2 * STEPS, 0]);
    // Checkpoints follow the clock. On a busy machine a step may take so long that it is recorded as running.
    expect(of(/\/wal\//)).toBeLessThanOrEqual(2 * STEPS + 5);
  },
);
