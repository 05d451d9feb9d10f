// A runner of workflows, ours or a peer's: the common interface of the workflow benchmarks. And ours: its own home,
// whose daemon is asked over its socket, as `holdfast run -d` does.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../src/base/ids.ts";
import type { RpcClient } from "../src/wire/rpc/client.ts";
import { Home } from "./home.ts";
import type { Work } from "./peer-host.ts";
import type { Bench } from "./scratch.ts";
import { until } from "./waiting.ts";

export type { Work } from "./peer-host.ts";

export type Runner = {
  readonly title: string;
  /** To their end. */
  run(work: Work): Promise<void>;
  /** Returns once they are accepted, without waiting for their end. */
  begin(work: Work): Promise<void>;
  /**
   * Kills the process that runs the steps of this work with SIGKILL, at once; resolves when its successor runs them.
   */
  crash(work: Work): Promise<void>;
  end(): Promise<void>;
};

/** No kill of a benchmark's is a crash loop. */
const CONFIG = "[crash_loop]\ncrashes = 1000000\nwindow_s = 86400\n";
const LIVE_MS = 60_000;
const DONE_MS = 1_800_000;
const STEP_ENDED = '"event":"workflow.step.ended"';

export function newIds(workflows: number): string[] {
  return Array.from({ length: workflows }, () => newId(crypto.getRandomValues(new Uint8Array(16))));
}

/** `stepsInACommit`: the most steps of this finished run that became durable in one transaction of the log. */
export type OurRunner = Runner & { stepsInACommit(id: string): number };

export async function startOurs(bench: Bench, name: string, config = ""): Promise<OurRunner> {
  const home = await Home.start(bench, name, CONFIG + config);
  return {
    title: "Holdfast",
    run: (work) => asking(home, (client) => runAll(home, client, work)),
    begin: (work) => asking(home, (client) => begin(home, client, work)),
    crash: async () => void (await home.liveAgainMs()),
    end: () => home.end(),
    stepsInACommit: (id) => mostStepsInACommit(walTexts(home), id),
  };
}

function walTexts(home: Home): string[] {
  const folder = join(home.path, "wal");
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
}

/**
 * A transaction is in one line of a segment, which may have those of other runs (docs/FORMATS.md). Throws if none of
 * the run's steps is there any more.
 */
export function mostStepsInACommit(segments: readonly string[], id: string): number {
  const isStep = (entry: string) => entry.includes(`"session_id":"${id}"`) && entry.includes(STEP_ENDED);
  const lines = segments.flatMap((text) => text.split("\n"));
  const most = lines.reduce((top, line) => Math.max(top, line.split("\t").filter(isStep).length), 0);
  if (most === 0) throw new Error(`the write-ahead log has no step of run ${id}`);
  return most;
}

async function asking(home: Home, ask: (client: RpcClient) => Promise<void>): Promise<void> {
  const client = await until("the daemon", LIVE_MS, () => home.dial());
  await ask(client);
  client.close();
}

async function begin(home: Home, client: RpcClient, work: Work): Promise<void> {
  const path = join(home.path, "bench.yml");
  writeFileSync(path, workflowFile(work));
  const wish = { path, cwd: home.path, texts: {}, values: {}, env: home.env };
  const answers = await Promise.all(work.ids.map((id) => client.call("workflow.run", { id, ...wish })));
  for (const answer of answers) if (!answer.ok) throw new Error(answer.error.message);
}

async function runAll(home: Home, client: RpcClient, work: Work): Promise<void> {
  await begin(home, client, work);
  for (const id of work.ids) await until(`the end of run ${id}`, DONE_MS, () => ended(client, id, work.steps));
}

async function ended(client: RpcClient, id: string, steps: number): Promise<true | undefined> {
  const shown = await client.call("workflow.show", { id, from: steps });
  if (!shown.ok) throw new Error(shown.error.message);
  if (shown.value.state === "running") return undefined;
  if (shown.value.state !== "done") throw new Error(`run ${id} is ${shown.value.state}: ${shown.value.error?.message}`);
  return true;
}

/** JSON is YAML. */
export function workflowFile({ steps, command }: Work): string {
  const step = (number: number) => {
    if (command === null) return { id: `s${number}`, set: { number } };
    return { id: `s${number}`, shell: command, env: { WORKFLOW: "${run.id}", STEP: String(number) } };
  };
  const lines = Array.from({ length: steps }, (_, number) => `  - ${JSON.stringify(step(number))}\n`);
  return `name: bench\nsteps:\n${lines.join("")}`;
}
