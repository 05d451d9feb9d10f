// workflow.steps.N.<peer>: durable in-process steps a second, N = 1 workflow and 25 at once: ours `set` one variable
// each, the peers' return a number. Ours puts up to 64 such steps in a row into one commit, because they do nothing
// outside; every peer commits each step. The row says how many steps one commit of ours had at most.
// workflow.steps.N.each.<peer>: the same, and each step of ours is a commit of its own, durable before the next begins:
// what a step costs that cannot share one. Ours is then an installation with that one limit changed (one-a-commit.ts).
// Workflows at once still share syncs, on both sides.
// workflow.shell.N.<peer>: the same with steps that run `true` in a shell; ours runs it in a holder that outlives the
// daemon, the peers' hosts spawn it.
// The clock runs from asking for the workflows until all of them are said to have ended. All have the same number of
// steps; everyone has run as many before (warm code, files that are there), and then they run in turn.
// Not measured: steps with much output, workflows of many thousands of steps, how long one step takes from its end to
// the next one's start.
import { oneStepACommit } from "./one-a-commit.ts";
import { inTurn, median, percentile, timed } from "./rounds.ts";
import { type Row, rateRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { type PeerName, type PeerRunner, withRunners } from "./workflow-peers.ts";
import { newIds, type OurRunner, type Runner } from "./workflow-runner.ts";

type Size = {
  readonly name: string;
  readonly workflows: number;
  readonly steps: number;
  readonly command: string | null;
  readonly rounds: number;
  /** Whether our steps are a commit each. */
  readonly each: boolean;
};

const PEERS: readonly PeerName[] = ["dbos", "restate", "langgraph", "langgraph-shipped"];
const SIZES: readonly Size[] = [
  { name: "steps.1", workflows: 1, steps: 1000, command: null, rounds: 5, each: false },
  { name: "steps.25", workflows: 25, steps: 100, command: null, rounds: 5, each: false },
  { name: "steps.1.each", workflows: 1, steps: 1000, command: null, rounds: 5, each: true },
  { name: "steps.25.each", workflows: 25, steps: 100, command: null, rounds: 5, each: true },
  { name: "shell.1", workflows: 1, steps: 50, command: "true", rounds: 5, each: false },
  { name: "shell.25", workflows: 25, steps: 10, command: "true", rounds: 5, each: false },
];
const QUICK = { steps: 5, rounds: 1 };

export async function workflowSteps(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  for (const each of [false, true]) {
    const sizes = SIZES.filter((size) => size.each === each);
    const of = (peer: PeerName) => sizes.map((size) => rowName(size, peer)).filter((name) => names.includes(name));
    const wanted = new Map(PEERS.map((peer) => [peer, of(peer)] as const).filter(([, mine]) => mine.length > 0));
    if (wanted.size === 0) continue;
    const measured = each ? { ...bench, root: await oneStepACommit(bench) } : bench;
    await withRunners(each ? "each" : "steps", wanted, measured, async (ours, peers) => {
      for (const size of sizes) {
        const some = peers.filter(({ peer }) => names.includes(rowName(size, peer)));
        if (some.length > 0) await compare(bench.quick ? { ...size, ...QUICK } : size, ours, some, bench, emit);
      }
    });
  }
}

function rowName({ name }: Size, peer: PeerName): string {
  return `workflow.${name}.${peer}`;
}

async function compare(
  size: Size,
  ours: OurRunner,
  peers: readonly PeerRunner[],
  bench: Bench,
  emit: (row: Row) => void,
): Promise<void> {
  const { workflows, steps, rounds } = size;
  bench.say(`workflow.${size.name}: ${rounds} rounds of ${workflows} × ${steps} steps each`);
  const runners = [ours, ...peers];
  for (const runner of runners) await stepsPerSecond(runner, size);
  const seen = await inTurn(
    rounds,
    runners.map((runner) => () => stepsPerSecond(runner, size)),
  );
  runners.forEach(({ title }, at) => {
    const [least, most] = [0, 1].map((part) => percentile(seen[at] ?? [], part).toFixed(0));
    bench.say(`  ${title}: ${least} to ${most} steps/s`);
  });
  const [value = Number.NaN, ...others] = seen.map(median);
  const commits = size.command === null ? `; ours ${await stepsInACommit(ours, size)} a commit` : "";
  peers.forEach(({ peer, title }, at) => {
    const figures = { name: rowName(size, peer), value, peer: `${title}${commits}` };
    emit(rateRow({ ...figures, peerValue: others[at] ?? Number.NaN }, "steps/s"));
  });
}

/** Seen in the log of one more run: fails if the figures were not measured as the row's name says. */
async function stepsInACommit(ours: OurRunner, { name, steps, command, each }: Size): Promise<number> {
  const [id = "", ...ids] = newIds(1);
  await ours.run({ ids: [id, ...ids], steps, command });
  const most = ours.stepsInACommit(id);
  if (each && most !== 1) throw new Error(`workflow.${name}: a commit of ours had ${most} steps, and not 1`);
  return most;
}

async function stepsPerSecond(runner: Runner, { workflows, steps, command }: Size): Promise<number> {
  const work = { ids: newIds(workflows), steps, command };
  const ms = await timed(() => runner.run(work));
  return (workflows * steps * 1000) / ms;
}
