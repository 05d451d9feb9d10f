// recovery.history: the daemon is killed with SIGKILL until the status of another one says LIVE, in a home with 10,000
// runs that have ended and a tenth as many agents that were terminated, divided by the same in a home with 10 and 1.
// What has ended is archived, and no start reads it.
// RH1. They are written by the daemon's own log and rules, without a daemon; one that is started then archives them in
//      the background. Only when all are archived is anything measured.
// Not measured: the first start of a home with so many of them, which reads them all; long runs.
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../src/base/ids.ts";
import { AgentStore } from "../src/daemon/agent/store.ts";
import { WorkflowStore } from "../src/daemon/workflow/store.ts";
import { EventLog } from "../src/log/event-log.ts";
import { readWorkflow } from "../src/wire/files/workflow-file.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { Home } from "./home.ts";
import { median } from "./rounds.ts";
import { costRow, type Row } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { until } from "./waiting.ts";

const FEW = 10;
const MANY = 10_000;
const BAR = 1.3;
const KILLS = 15;
const CONFIG = "[retention]\narchive_after_min = 0\n[crash_loop]\ncrashes = 1000000\nwindow_s = 86400\n";
const FLOW = "steps:\n  - id: one\n    set: { a: 1 }\n  - id: two\n    set: { b: 2 }\n";
const AT_ONCE = 200;
const AGENTS_ONE_IN = 10;
const ARCHIVED_MS = 600_000;
/** Processes started after LIVE have come to rest. */
const REST_MS = 500;

export async function recoveryHistory(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const [name] = names;
  if (name === undefined) return;
  const many = bench.quick ? MANY / 10 : MANY;
  const homes = [await withRuns(bench, "few", FEW), await withRuns(bench, "many", many)];
  const seen = homes.map((): number[] => []);
  try {
    for (let kill = 0; kill < (bench.quick ? 3 : KILLS); kill += 1)
      for (const [at, home] of homes.entries()) {
        await Bun.sleep(REST_MS);
        seen[at]?.push(await home.liveAgainMs());
      }
  } finally {
    for (const home of homes) await home.end();
  }
  const [few = 0, most = 0] = seen.map(median);
  bench.say(`${name}: ${few.toFixed(0)} ms with ${FEW} runs, ${most.toFixed(0)} ms with ${many}`);
  emit(costRow({ name, value: most / few, unit: "×", bar: BAR }));
}

/** RH1 */
async function withRuns(bench: Bench, name: string, count: number): Promise<Home> {
  const place = join(bench.directory, name);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  bench.say(`recovery.history: writes ${count} runs and ${count / AGENTS_ONE_IN} agents`);
  await write(place, count);
  const home = await Home.start(bench, name, CONFIG);
  await until("all of them are archived", ARCHIVED_MS, async () => {
    await Bun.sleep(REST_MS);
    const names = ["state/bench/sessions", "agents"].flatMap((sessions) => readdirSync(join(place, sessions)));
    return names.every((id) => id.startsWith("_")) || undefined;
  });
  return home;
}

async function write(home: string, count: number): Promise<void> {
  const world = { disk: realDisk(), clock: realClock(), home };
  const log = await EventLog.open(world, { ballastBytes: 0 });
  const nothing = () => undefined;
  const onBug = (error: unknown) => {
    throw error;
  };
  const hooks = { publish: nothing, perform: nothing, onBug };
  const store = new WorkflowStore(log, world.clock, hooks);
  const definition = readWorkflow(Buffer.from(FLOW), "history");
  if (!definition.ok) throw new Error("the workflow is right");
  const of = { path: "/flow.yml", repo: "bench", cwd: "/", worktree: undefined, environment: {}, parameters: {} };
  for (let made = 0; made < count; made += AT_ONCE) {
    const ids = Array.from({ length: Math.min(AT_ONCE, count - made) }, () =>
      newId(crypto.getRandomValues(new Uint8Array(16))),
    );
    const command = { kind: "create", ...of, definition: definition.value, sourceSha256: "0" } as const;
    const done = await Promise.all(ids.map((id) => store.submit({ ...command, id })));
    if (done.some((one) => !one.ok || one.value.status.kind !== "done")) throw new Error("a run has not ended");
  }
  const around = { settings: NO_CONFIG, keyed: (text: string) => text };
  const agents = new AgentStore(log, world.clock, () => around, hooks);
  const made = Array.from({ length: Math.ceil(count / AGENTS_ONE_IN) }, () => writeAgent(agents));
  await Promise.all(made);
  await log.close();
}

const NO_CONFIG = { slots: {}, paused: true, rules: [], defaults: {}, recipes: {}, spawns: {} };

/** One that was terminated before its first turn. */
async function writeAgent(agents: AgentStore): Promise<void> {
  const id = newId(crypto.getRandomValues(new Uint8Array(16)));
  const recipe = {
    provider: "scripted",
    model: null,
    command: [],
    flags: [],
    permissionMode: null,
    options: {},
  } as const;
  const plan = { recipe, system_prompt: "", cwd: "/", environment: {}, workspace: null };
  const wish = { name: `a${id}`, parent: undefined, instructions: "Do it.", plan, settings: {} };
  await agents.submit({ kind: "create", id, ...wish });
  const ended = await agents.submit({ kind: "terminate", id, reason: "It is over." });
  if (!ended.ok) throw new Error("an agent has not ended");
}
