// `npm run soak [-- --minutes N]`: a Holdfast of its own under work and kills (for 10 minutes), with terminals, agents
// and runs of workflows. Fails if a process of ours, or the home on disk, grows (soak-samples.ts says
// what is allowed), if a terminal's program is not the process it was, if the log is not whole, or if `down --kill`
// leaves a process behind.
// SO1. Every cycle does the same work and is sampled at the same point, at rest, so that samples can be compared.
// SO2. It leaves nothing: its directory and all processes in it are removed however it ends (bench/scratch.ts).
// Exit code 0 if nothing grew, 1 if something did or broke or the time was too short to tell, 2 for wrong usage.
import { AgentHome, CONFIG } from "../bench/agent-home.ts";
import { Home } from "../bench/home.ts";
import { processesOf, startOf } from "../bench/processes.ts";
import { type Bench, startBench } from "../bench/scratch.ts";
import { until } from "../bench/waiting.ts";
import { WorkflowHome } from "../bench/workflow-home.ts";
import { buildPrograms } from "./build.ts";
import { ROOT } from "./files.ts";
import { growthTable, judge, type Sample } from "./growth.ts";
import { sampleOf, toleranceOf } from "./soak-samples.ts";

const USUAL_MINUTES = 10;
const TERMINALS = 5;
const AGENTS = 3;
/** The first ones grow by what is needed once. */
const WARM_UP = 3;
/** What was started is at rest. */
const REST_MS = 1000;
const LIVE_MS = 60_000;
/** Nothing that has ended stays longer than a cycle: what still grows is a leak, or a history. */
const RETENTION = "[retention]\nremoved_days = 0\nrun_days = 0\narchive_after_min = 0\n";
const FLOW = `name: soak
steps:
  - { id: a, set: { x: "1" } }
  - { id: b, shell: "echo some output" }
  - { id: c, shell: "true" }
`;

type Soaked = { readonly home: Home; readonly flows: WorkflowHome; readonly agents: readonly string[] };

async function start(bench: Bench): Promise<Soaked> {
  const home = await Home.start(bench, "s", `${CONFIG}${RETENTION}`);
  await home.open(TERMINALS, ["/bin/sh", "-c", "while :; do echo tick; sleep 1; done"]);
  const line = await AgentHome.open(home);
  const agents = await line.make(AGENTS);
  line.close();
  return { home, flows: new WorkflowHome(home), agents };
}

/** A run and a terminal begin and end, every agent has a turn, and something is killed in the middle. */
async function work({ home, flows, agents }: Soaked, cycle: number): Promise<void> {
  const run = await flows.begin(FLOW);
  if (cycle % 4 === 0) await home.liveAgainMs();
  if (cycle % 4 === 2) await killWatchdog(home);
  const end = (await flows.log(run)).at(-1);
  if (end?.data["state"] !== "done") throw new Error(`a run ended as ${JSON.stringify(end?.data)}`);
  await home.run("new", "-d", `once${cycle}`, "--", "sleep", "100000");
  await home.run("rm", "--force", `once${cycle}`);
  const line = await AgentHome.open(home);
  await Promise.all(agents.map((id) => line.send(id)));
  await line.when("every agent has had a turn", () => agents.every((id) => line.turnsOf(id) > 0));
  line.close();
  await home.run("gc");
  await Bun.sleep(REST_MS);
}

async function killWatchdog(home: Home): Promise<void> {
  const watchdog = async () => (await home.status())?.watchdog.pid ?? undefined;
  const before = await until("a watchdog", LIVE_MS, watchdog);
  process.kill(before, "SIGKILL");
  await until("another watchdog", LIVE_MS, async () => {
    const now = await watchdog();
    return now === before ? undefined : now;
  });
}

/** Every terminal's program: pid and start. */
async function programs(home: Home): Promise<string> {
  const all = (await home.terminals()).filter(({ name }) => /^t\d+$/.test(name));
  const told = all.map(({ name, state }) => {
    return `${name} ${state.kind === "running" ? `${state.pid} ${startOf(state.pid)}` : state.kind}`;
  });
  return told.sort().join(", ");
}

/** Returns what is wrong in the end. */
async function soak(bench: Bench, minutes: number): Promise<string[]> {
  const soaked = await start(bench);
  const { home } = soaked;
  const before = await programs(home);
  const samples: Sample[] = [];
  const endMs = performance.now() + minutes * 60_000;
  for (let cycle = 0; performance.now() < endMs; cycle += 1) {
    await work(soaked, cycle);
    if (cycle >= WARM_UP) samples.push(sampleOf(home.path)); // SO1
  }
  const now = await programs(home);
  await home.run("log", "verify"); // Throws if it is not whole.
  await home.run("down", "--kill");
  const left = processesOf(home.path).map(({ pid, words }) => `down --kill left ${pid} ${words.join(" ")}`);
  const others = before === now ? [] : [`programs are not the same: ${before} → ${now}`];
  return [...left, ...others, ...grown(samples)];
}

function grown(samples: readonly Sample[]): string[] {
  const judged = judge(samples, toleranceOf);
  console.log(`${samples.length} cycles, after ${WARM_UP} to warm up`);
  if (judged === undefined) return [`${samples.length} cycles are too few to tell; let it run for longer`];
  console.log(growthTable(judged));
  return judged.filter(({ isTooMuch }) => isTooMuch).map(({ name }) => `${name} grew`);
}

function minutesOf(args: readonly string[]): number | undefined {
  if (args.length === 0) return USUAL_MINUTES;
  const minutes = Number(args[1]);
  return args.length === 2 && args[0] === "--minutes" && minutes > 0 ? minutes : undefined;
}

const minutes = minutesOf(Bun.argv.slice(2));
if (minutes === undefined) {
  console.error("usage: npm run soak [-- --minutes N]");
  process.exit(2);
}
await buildPrograms(ROOT);
const problems = await soak(startBench(false), minutes); // SO2
for (const problem of problems) console.log(`FAILED: ${problem}`);
if (problems.length === 0) console.log("nothing grew");
process.exit(problems.length === 0 ? 0 : 1);
