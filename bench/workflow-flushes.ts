// workflow.shell.flushes: how often the daemon and its holders flush to the disk for a step `shell: "true"`, in a run
// of 50 of them; counted by strace, with the run's checkpoints. Two are the claim and the exit, one is the log.
import { join } from "node:path";
import { FlushTrace } from "./flushes.ts";
import { Home } from "./home.ts";
import { costRow, type Row } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { WorkflowHome } from "./workflow-home.ts";

export const FLUSHES = 4;

export async function workflowFlushes(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const [name = ""] = names;
  const steps = bench.quick ? 5 : 50;
  if (Bun.which("strace") === null) return bench.say(`skipped, because strace is not installed: ${name}`);
  bench.say(`${name}: a run of ${steps} steps, with strace`);
  const flows = new WorkflowHome(await Home.start(bench, "flushes"));
  const text = `steps:\n${'  - shell: "true"\n'.repeat(steps)}`;
  try {
    const daemon = (await flows.home.status())?.daemon.pid ?? 0;
    const trace = await FlushTrace.attach(daemon, join(bench.directory, "flushes.trace"));
    await flows.run(text); // The first one makes what all later ones use.
    const before = trace.count;
    await flows.run(text);
    const paths = await trace.end(before);
    const checkpoints = paths.filter((path) => !/\/(?:journals|wal|attempts)\//.test(path)).length;
    bench.say(`  ${(checkpoints / steps).toFixed(2)} of them for checkpoints and for what a run has once`);
    emit(costRow({ name, value: paths.length / steps, unit: "flushes", bar: FLUSHES }));
  } finally {
    await flows.home.end();
  }
}
