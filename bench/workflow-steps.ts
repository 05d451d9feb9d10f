// workflow.steps.N.<peer>: durable in-process steps a second, N = 1 workflow and 25 at once: ours `set` one variable
// each, the peers' return a number. workflow.shell.N.<peer>: the same with steps that run `true` in a shell; ours runs
// it in a holder that outlives the daemon, the peers' hosts spawn it.
// The clock runs from asking for the workflows until all of them are said to have ended. All have the same number of
// steps; everyone has run as many before (warm code, files that are there), and then they run in turn.
// Not measured: steps with much output, workflows of many thousands of steps, how long one step takes from its end to
// the next one's start.
import { inTurn, median, percentile, timed } from "./rounds.ts";
import { type Row, rateRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { type PeerName, type PeerRunner, withRunners } from "./workflow-peers.ts";
import { newIds, type Runner } from "./workflow-runner.ts";

type Size = {
  readonly name: string;
  readonly workflows: number;
  readonly steps: number;
  readonly command: string | null;
  readonly rounds: number;
};

const PEERS: readonly PeerName[] = ["dbos", "restate", "langgraph", "langgraph-shipped"];
const SIZES: readonly Size[] = [
  { name: "steps.1", workflows: 1, steps: 1000, command: null, rounds: 5 },
  { name: "steps.25", workflows: 25, steps: 100, command: null, rounds: 5 },
  { name: "shell.1", workflows: 1, steps: 50, command: "true", rounds: 5 },
  { name: "shell.25", workflows: 25, steps: 10, command: "true", rounds: 5 },
];
const QUICK = { steps: 5, rounds: 1 };

export async function workflowSteps(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const of = (peer: PeerName) => names.filter((name) => name.endsWith(`.${peer}`));
  const wanted = new Map(PEERS.map((peer) => [peer, of(peer)] as const).filter(([, mine]) => mine.length > 0));
  await withRunners("steps", wanted, bench, async (ours, peers) => {
    for (const size of SIZES) {
      const some = peers.filter(({ peer }) => names.includes(rowName(size, peer)));
      if (some.length > 0) await compare(bench.quick ? { ...size, ...QUICK } : size, ours, some, bench, emit);
    }
  });
}

function rowName({ name }: Size, peer: PeerName): string {
  return `workflow.${name}.${peer}`;
}

async function compare(
  size: Size,
  ours: Runner,
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
  peers.forEach(({ peer, title }, at) => {
    const figures = { name: rowName(size, peer), value, peer: title, peerValue: others[at] ?? Number.NaN };
    emit(rateRow(figures, "steps/s"));
  });
}

async function stepsPerSecond(runner: Runner, { workflows, steps, command }: Size): Promise<number> {
  const work = { ids: newIds(workflows), steps, command };
  const ms = await timed(() => runner.run(work));
  return (workflows * steps * 1000) / ms;
}
