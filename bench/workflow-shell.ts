// workflow.shell.overhead: what a step `shell: "true"` takes more than the same command run bare, in milliseconds: the
// time from the end of one step to the end of the next, in runs of many such steps, less the time from spawning
// `/bin/sh -e -c true` on pipes to its exit.
// Between two ends there are: both events durable, a directory and a claim, the command, its exit and its end on disk.
// The first step of a run, which may have to start a holder, is reported on standard error. Runs and bare commands take
// turns.
import { Home } from "./home.ts";
import { median } from "./rounds.ts";
import { costRow, type Row } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { timesOf, WorkflowHome } from "./workflow-home.ts";

export const OVERHEAD_MS = 40;
const COMMAND = ["/bin/sh", "-e", "-c", "true"];

export async function workflowShell(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const [name = ""] = names;
  const { runs, steps } = bench.quick ? { runs: 2, steps: 3 } : { runs: 9, steps: 40 };
  bench.say(`${name}: ${runs} runs of ${steps} steps, and ${runs * steps} bare commands`);
  const flows = new WorkflowHome(await Home.start(bench, "shell"));
  const text = `steps:\n${'  - shell: "true"\n'.repeat(steps)}`;
  const seen = { step: [] as number[], first: [] as number[], bare: [] as number[] };
  try {
    for (let run = 0; run < runs; run += 1) {
      const log = await flows.run(text);
      const [began = 0] = timesOf(log, "workflow.attempt.started");
      const ends = timesOf(log, "workflow.attempt.ended");
      seen.first.push((ends[0] ?? 0) - began);
      seen.step.push(((ends.at(-1) ?? 0) - (ends[0] ?? 0)) / (ends.length - 1));
      for (let at = 0; at < steps; at += 1) seen.bare.push(await bareMs());
    }
  } finally {
    await flows.home.end();
  }
  const [step, first, bare] = [seen.step, seen.first, seen.bare].map(median);
  bench.say(`  a step ${step?.toFixed(1)} ms, bare ${bare?.toFixed(1)} ms; the first of a run ${first} ms`);
  emit(costRow({ name, value: (step ?? 0) - (bare ?? 0), unit: "ms", bar: OVERHEAD_MS }));
}

async function bareMs(): Promise<number> {
  const before = performance.now();
  await Bun.spawn(COMMAND, { stdio: ["pipe", "pipe", "pipe"], cwd: "/", env: {} }).exited;
  return performance.now() - before;
}
