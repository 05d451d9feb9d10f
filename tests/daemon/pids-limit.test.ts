// A passing failure to start something is no end of it: under a real limit on processes.
import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { AGENT_PATIENCE_MS, agentHomes } from "../agent/agent-home.ts";
import { until } from "../until.ts";
import { Runs } from "../workflow/runs.ts";
import { killIfThere } from "./home.ts";
import { PidsLimit } from "./pids-limit.ts";

const limit = PidsLimit.make();
/** Declared first: what lives in the group is ended by the hook of the homes, before the group is removed. */
const newHome = agentHomes();
afterEach(() => limit?.close());

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

if (limit === undefined) console.warn("tests/daemon/pids-limit.test.ts needs root and the pids controller of cgroups");

test.skipIf(limit === undefined)(
  "a limit on processes during recovery ends nothing: five terminals, an agent and a run are back once it is lifted (needs root and the pids controller)",
  async () => {
    if (limit === undefined) return;
    const home = newHome();
    const runs = new Runs(home);
    const first = home.start();
    limit.hold(first.process.pid);
    await home.isLive(first);
    const ids = await Promise.all(NAMES.map((name) => home.open(name, ["sh", "-c", "exec sleep 1000"])));
    for (const id of ids) await home.is(id, "running");
    const agent = await home.agent("worker", {});
    await home.say(agent, "hello");
    await home.rests(agent, 1);
    const run = await runs.begin(FLOW);
    await until(
      "its step runs",
      async () => (await runs.show(run)).attempts.length === 1,
      () => runs.show(run),
    );
    const threads = Number(/^Threads:\t(\d+)$/m.exec(readFileSync(`/proc/${first.process.pid}/status`, "utf8"))?.[1]);
    await home.kill(first);
    for (const pid of home.ours()) killIfThere(pid);
    await until(
      "all are gone",
      () => limit.count === 0,
      () => limit.count,
    );

    limit.set(threads + SPARE);
    const second = home.start();
    limit.hold(second.process.pid);
    await home.isLive(second);
    await home.say(agent, "hello again");
    const troubled = await until(
      "a terminal's trouble is shown",
      async () => (await home.must("terminal.list", {})).filter(({ trouble }) => trouble !== undefined),
      () => home.must("terminal.list", {}),
    );
    expect([limit.hasRefused, troubled.length > 0]).toEqual([true, true]);
    const ended = (await home.must("terminal.list", {})).filter(
      ({ state }) => !["starting", "running"].includes(state.kind),
    );
    expect(ended).toEqual([]);
    expect(["crashed", "terminated"]).not.toContain((await home.shown(agent)).state);
    expect(["running"]).toContain((await runs.show(run)).state);

    limit.set("max");
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
