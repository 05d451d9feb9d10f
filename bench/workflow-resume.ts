// workflow.resume.10000: the daemon is killed with SIGKILL while a run with 10,000 finished steps is at its last one,
// until the status of another daemon says LIVE; that one has read the run's checkpoint and the tail of its log, and has
// its holder on the line again.
// The peer is the same with 10 finished steps. Afterwards the step must still be the one that was begun: another
// attempt breaks the benchmark.
import { Home } from "./home.ts";
import { median } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { WorkflowHome } from "./workflow-home.ts";

const FEW = 10;
const CONFIG = "[crash_loop]\ncrashes = 1000000\nwindow_s = 86400\n";
/** Processes started after LIVE have come to rest. */
const REST_MS = 500;

type Site = { readonly flows: WorkflowHome; readonly id: string };

export async function workflowResume(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const [name = ""] = names;
  const { many, kills } = bench.quick ? { many: 100, kills: 1 } : { many: 10_000, kills: 9 };
  bench.say(`${name}: ${kills} kills with ${many} and with ${FEW} finished steps`);
  const sites = [await waiting(bench, many), await waiting(bench, FEW)] as const;
  const seen: [number[], number[]] = [[], []];
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      for (const [at, site] of sites.entries()) seen[at]?.push(await liveAgainMs(site));
    }
    for (const site of sites) await sameAttempt(site);
  } finally {
    for (const { flows } of sites) await flows.home.end();
  }
  const peer = `the same run with ${FEW} finished steps`;
  emit(timeRow({ name, value: median(seen[0]), peer, peerValue: median(seen[1]) }));
}

/** A run whose last step never ends. */
async function waiting(bench: Bench, steps: number): Promise<Site> {
  const flows = new WorkflowHome(await Home.start(bench, `resume-${steps}`, CONFIG));
  const sets = Array.from({ length: steps }, (_, at) => `  - set: { v${at % 100}: "value ${at}" }\n`);
  const id = await flows.begin(`steps:\n${sets.join("")}  - shell: sleep 100000\n`);
  await flows.log(id, "workflow.attempt.running");
  return { flows, id };
}

async function liveAgainMs({ flows: { home } }: Site): Promise<number> {
  await Bun.sleep(REST_MS);
  return home.liveAgainMs();
}

async function sameAttempt({ flows, id }: Site): Promise<void> {
  const begun = (await flows.log(id, "workflow.attempt.running")).filter(
    ({ event }) => event === "workflow.attempt.started",
  );
  if (begun.length !== 1) throw new Error(`${begun.length} attempts were begun`);
}
