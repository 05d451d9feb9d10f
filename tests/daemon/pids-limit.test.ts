// A passing failure to start something is no end of it: under a real limit on processes.
import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import { AGENT_PATIENCE_MS, agentHomes } from "../agent/agent-home.ts";
import { PATIENCE_MS, until } from "../until.ts";
import { Runs } from "../workflow/runs.ts";
import { killIfThere } from "./home.ts";
import { PidsLimit } from "./pids-limit.ts";

const possible = PidsLimit.make();
await possible?.close();
/** Declared first: what lives in the group is ended by the hook of the homes, before the group is removed. */
const newHome = agentHomes();
/** The engine's own values instead of LITTLE_COMPILING (tests/ours.ts): here its threads are what counts. */
const AS_SHIPPED = { BUN_JSC_useConcurrentJIT: "1", BUN_JSC_thresholdForOptimizeAfterWarmUp: "1000" };
afterEach(() => PidsLimit.closeAll());

const NAMES = ["a", "b", "c", "d", "e"];
/** What a daemon may have beyond what it needs when it rests: too little for a holder with its threads. */
const SPARE = 5;
const FLOW = [
  "name: one",
  "steps:",
  "  - id: s1",
  "    on_uncertain: rerun",
  "    shell: until [ -e go ]; do sleep 0.1; done; echo x >> done",
].join("\n");

function threadsOf(pid: number): number {
  return Number(/^Threads:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

async function answers(home: { ask(method: "status", params: object): Promise<unknown> }): Promise<boolean> {
  const asked = home.ask("status", {}).then((answer) => answer !== undefined);
  return Promise.race([asked, Bun.sleep(PATIENCE_MS / 3).then(() => false)]);
}

async function holdfast(home: string, ...words: readonly string[]) {
  const env = { PATH: "/usr/bin:/bin", HOME: home, HOLDFAST_HOME: home };
  const child = Bun.spawn([join(ROOT, "holdfast"), ...words], { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

if (possible === undefined) console.warn("tests/daemon/pids-limit.test.ts needs root and the pids controller");

test.skipIf(possible === undefined)(
  "a limit on processes during recovery ends nothing: five terminals, an agent and a run are back once it is lifted (needs root and the pids controller)",
  async () => {
    const limit = PidsLimit.mustMake();
    const home = newHome();
    const runs = new Runs(home);
    const first = home.start(AS_SHIPPED);
    limit.hold(first.process.pid);
    await home.isLive(first);
    const ids = await Promise.all(NAMES.map((name) => home.open(name, ["sh", "-c", "exec sleep 1000"])));
    const threads = [threadsOf(first.process.pid)];
    for (const id of ids) await home.is(id, "running");
    threads.push(threadsOf(first.process.pid));
    const agent = await home.agent("worker", {});
    await home.say(agent, "hello");
    await home.rests(agent, 1);
    const run = await runs.begin(FLOW);
    await until(
      "its step runs",
      async () => (await runs.show(run)).attempts.length === 1,
      () => runs.show(run),
    );
    threads.push(threadsOf(first.process.pid));
    await home.kill(first);
    for (const pid of home.ours()) killIfThere(pid);
    await until(
      "all are gone",
      () => limit.count === 0,
      () => limit.count,
    );

    // Its threads end by themselves, sooner on a busy machine, and the engine aborts if it cannot have one again.
    limit.set(Math.max(...threads) + SPARE);
    const second = home.start(AS_SHIPPED);
    limit.hold(second.process.pid);
    await home.isLive(second);
    await home.say(agent, "hello again");
    await until(
      "a terminal's trouble is shown",
      async () => (await home.must("terminal.list", {})).some(({ trouble }) => trouble !== undefined),
      () => home.must("terminal.list", {}),
    );
    expect(limit.hasRefused).toBe(true);
    const ended = (await home.must("terminal.list", {})).filter(
      ({ state }) => !["starting", "running"].includes(state.kind),
    );
    expect(ended).toEqual([]);
    expect(["crashed", "terminated"]).not.toContain((await home.shown(agent)).state);

    limit.set("max");
    // The engine aborts or hangs if it cannot have another thread; then the watchdog starts the next daemon.
    if (!(await answers(home))) {
      await home.kill(second);
      await home.live(AS_SHIPPED);
    }
    writeFileSync(home.file("go"), "");
    for (const id of ids)
      await until(
        `${id} is back`,
        async () => (await home.listed(id)).state.kind === "running",
        () => home.listed(id),
        AGENT_PATIENCE_MS,
      );
    await home.rests(agent, 2);
    await runs.is(run, "done");
    expect(home.text("done")).toBe("x\n");
  },
  300_000,
);

test.skipIf(possible === undefined)(
  "new reports that a terminal could not be started yet, and it starts once the limit is lifted (needs root and the pids controller)",
  async () => {
    const limit = PidsLimit.mustMake();
    const home = newHome();
    const daemon = home.start(AS_SHIPPED);
    limit.hold(daemon.process.pid);
    await home.isLive(daemon);
    limit.set(1); // Threads end by themselves: then there would be room for one more.
    const made = await holdfast(home.path, "new", "-d", "late", "--", "sleep", "1000");
    expect([made.code === 0, made.out, made.err]).toEqual([
      false,
      "",
      expect.stringContaining("late was created, but could not be started yet: "),
    ]);
    limit.set("max");
    // The runtime aborts if it cannot have another thread; then the watchdog starts the next daemon.
    if (daemon.process.exitCode !== null || daemon.process.signalCode !== null) await home.live(AS_SHIPPED);
    await until(
      "it runs",
      async () => (await home.must("terminal.list", {})).some(({ state }) => state.kind === "running"),
      () => home.ask("terminal.list", {}),
    );
  },
  120_000,
);
