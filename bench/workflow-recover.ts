// workflow.recover.25.<peer>: the process that runs the steps is killed with SIGKILL while 25 workflows are each in the
// middle of one, until every workflow has begun a step again: the next one, or the same one.
// workflow.recover.25.<peer>.twice: how many steps were executed more than once, of all 25 workflows to their end.
// A step is a shell that appends a line to a file; the one in which the kill happens then waits at a gate (a named
// pipe), which is opened right after the kill. So all 25 are in flight, none is delayed by the length of its step, and
// the machine is at rest at the kill.
// Ours: the daemon is killed, and the watchdog starts another one. Peers: their host is killed, and we restart it at
// once, as a perfect supervisor would; PostgreSQL and Restate's server survive, and LangGraph gets the list of threads
// to resume.
// Not measured: a machine crash, a killed server of a peer, long steps (ours keep running, the peers' start over).
import { closeSync, constants, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "./rounds.ts";
import { countRow, type Row, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";
import { begun, executedTwice, reached } from "./step-lines.ts";
import { until } from "./waiting.ts";
import { type PeerName, type PeerRunner, withRunners } from "./workflow-peers.ts";
import { newIds, type Runner, type Work } from "./workflow-runner.ts";

const PEERS: readonly PeerName[] = ["dbos", "restate", "langgraph"];
const WORKFLOWS = 25;
const STEPS = 5;
/** The step in which the kill comes. */
const GATED = 2;
const KILLS = 7;
const WAIT_MS = 300_000;
/** What the steps before the gate left to do is done. */
const REST_MS = 1000;

type Seen = { readonly ms: number; readonly twice: number };

export async function workflowRecover(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const of = (peer: PeerName) => names.filter((name) => name === rowName(peer) || name === twiceName(peer));
  const wanted = new Map(PEERS.map((peer) => [peer, of(peer)] as const).filter(([, mine]) => mine.length > 0));
  await withRunners("recover", wanted, bench, async (ours, peers) => {
    const [mine = [], ...theirs] = await killed([ours, ...peers], bench);
    const rows = peers.flatMap((peer, at) => rowsOf(peer, mine, theirs[at] ?? []));
    for (const row of rows) if (names.includes(row.name)) emit(row);
  });
}

function rowName(peer: PeerName): string {
  return `workflow.recover.${WORKFLOWS}.${peer}`;
}

function twiceName(peer: PeerName): string {
  return `${rowName(peer)}.twice`;
}

/** The median of the times; the worst of what must not happen. */
function rowsOf({ peer, title }: PeerRunner, ours: readonly Seen[], theirs: readonly Seen[]): Row[] {
  const ms = (seen: readonly Seen[]) => median(seen.map((one) => one.ms));
  const most = (seen: readonly Seen[]) => Math.max(...seen.map((one) => one.twice));
  return [
    timeRow({ name: rowName(peer), value: ms(ours), peer: title, peerValue: ms(theirs) }),
    countRow({ name: twiceName(peer), value: most(ours), peer: title, peerValue: most(theirs) }, "steps"),
  ];
}

async function killed(runners: readonly Runner[], bench: Bench): Promise<Seen[][]> {
  const kills = bench.quick ? 1 : KILLS;
  bench.say(`workflow.recover.${WORKFLOWS}: ${kills} kills of each`);
  const place = makePlace(bench, "lines");
  const seen = runners.map((): Seen[] => []);
  for (let kill = 0; kill < kills; kill += 1) {
    for (const [at, runner] of runners.entries()) seen[at]?.push(await recovered(runner, join(place, `${at}-${kill}`)));
  }
  runners.forEach(({ title }, at) => {
    const each = (seen[at] ?? []).map(({ ms, twice }) => `${ms.toFixed(0)} ms, ${twice} twice`);
    bench.say(`  ${title}: ${each.join("; ")}`);
  });
  return seen;
}

async function recovered(runner: Runner, path: string): Promise<Seen> {
  const [file, gate] = [`${path}.lines`, `${path}.gate`];
  writeFileSync(file, "");
  if (Bun.spawnSync(["mkfifo", gate]).exitCode !== 0) throw new Error(`mkfifo ${gate} failed`);
  const command = `echo "$WORKFLOW $STEP" >> ${file}; [ "$STEP" != ${GATED} ] || : < ${gate}`;
  const work: Work = { ids: newIds(WORKFLOWS), steps: STEPS, command };
  const lines = () => readFileSync(file, "utf8");
  await runner.begin(work);
  await until("all workflows at the gate", WAIT_MS, () => reached(lines(), GATED) === WORKFLOWS || undefined);
  await Bun.sleep(REST_MS);
  const before = begun(lines());
  const goesOn = (id: string, now: ReadonlyMap<string, number>) => (now.get(id) ?? 0) > (before.get(id) ?? 0);
  const began = performance.now();
  const back = runner.crash(work);
  const open = openSync(gate, constants.O_RDWR); // While a writer has it open, readers can open it without blocking.
  const allGoOn = () => work.ids.every((id) => goesOn(id, begun(lines()))) || undefined;
  await until("all workflows go on", WAIT_MS, allGoOn);
  const ms = performance.now() - began;
  await back;
  await until("the last step of all workflows", WAIT_MS, () => reached(lines(), STEPS - 1) === WORKFLOWS || undefined);
  closeSync(open);
  return { ms, twice: executedTwice(lines()) };
}
