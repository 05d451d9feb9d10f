// agent.recover.1000: from SIGKILL of a daemon with 1,000 agents of 10,000 events each until the status of its
// successor says LIVE; it has read the agents' checkpoints and the tails of their logs, 60 events each. The peer is one
// kill on the same home without checkpoints.
// agent.recover.1000.growth: the same figure; the peer is a home whose agents have 200 events each.
// agent.memory: the memory of an idle agent in the daemon: private memory of a daemon with 1,000 agents of 20 events
// each, minus that of a daemon without agents, in KB (10³). Its process, if it has one, is in a holder
// (terminal.memory).
// The agents are bare models at rest: the figures include no process of theirs. All of them must be there afterwards.
// Not measured: agents in mid-turn, processes to be found again (recovery.daemon), a cold page cache.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { type History, writeHistory } from "./agent-history.ts";
import { CONFIG, freshId } from "./agent-home.ts";
import { Home } from "./home.ts";
import { memoryOf } from "./processes.ts";
import { median } from "./rounds.ts";
import { costRow, type Row, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";
import { until } from "./waiting.ts";

const RECOVER = "agent.recover.1000";
const GROWTH = "agent.recover.1000.growth";
const MEMORY = "agent.memory";
/** Ten million events without checkpoints take a minute and more. */
const LIVE_MS = 900_000;
/** Processes started after LIVE have come to rest. */
const REST_MS = 500;
/** A daemon at rest has freed the memory of its start. */
const QUIET_MS = 20_000;

export async function agentRecover(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const quick = { agents: 20, long: 400, short: 40, few: 20 };
  const { agents, long, short, few } = bench.quick ? quick : { agents: 1000, long: 10_000, short: 200, few: 20 };
  if (names.includes(RECOVER) || names.includes(GROWTH)) {
    const { ms: value, withoutMs } = await recovered(bench, { agents, events: long }, names.includes(RECOVER));
    if (names.includes(RECOVER))
      emit(timeRow({ name: RECOVER, value, peer: "without checkpoints", peerValue: withoutMs }));
    const peer = `with ${short} events each`;
    if (names.includes(GROWTH))
      emit(timeRow({ name: GROWTH, value, peer, peerValue: (await recovered(bench, { agents, events: short })).ms }));
  }
  if (names.includes(MEMORY)) emit(await memory(bench, { agents, events: few }));
}

type Seen = { readonly ms: number; readonly withoutMs: number };

/** The median of some kills with checkpoints, then one kill without. */
async function recovered(bench: Bench, history: History, without = false): Promise<Seen> {
  const name = await lived(bench, history);
  const what = `${history.agents} agents of ${history.events} events`;
  try {
    return await onHome(bench, name, history, async (home) => {
      const ms = await killed(bench, home);
      bench.say(`  ${what}: LIVE after ${ms.map(Math.round).join(", ")} ms`);
      if (!without) return { ms: median(ms), withoutMs: Number.NaN };
      for (const path of new Glob("agents/*/checkpoint*.json").scanSync(home.path)) rmSync(join(home.path, path));
      const withoutMs = await liveAgainMs(home);
      bench.say(`  ${what}: without checkpoints ${Math.round(withoutMs)} ms`);
      return { ms: median(ms), withoutMs };
    });
  } finally {
    rmSync(join(bench.directory, name), { recursive: true }); // Gigabytes.
  }
}

async function killed(bench: Bench, home: Home): Promise<number[]> {
  const seen: number[] = [];
  for (let kill = 0; kill < (bench.quick ? 1 : 5); kill += 1) seen.push(await liveAgainMs(home));
  return seen;
}

/** The name of a home in which that was. */
async function lived(bench: Bench, history: History): Promise<string> {
  const name = `recover-${freshId().slice(0, 6)}`;
  await writeHistory(makePlace(bench, name), history);
  Bun.spawnSync(["sync"]); // Else the system would be writing gigabytes of it all the while.
  return name;
}

async function onHome<T>(
  bench: Bench,
  name: string,
  { agents }: History,
  measure: (home: Home) => Promise<T>,
): Promise<T> {
  const home = await Home.start(bench, name, CONFIG);
  try {
    const measured = await measure(home);
    await mustHaveAll(home, agents);
    return measured;
  } finally {
    await home.end();
  }
}

async function mustHaveAll(home: Home, agents: number): Promise<void> {
  const client = await until("the daemon", LIVE_MS, () => home.dial());
  const list = await client.call("agent.list", {});
  client.close();
  const found = list.ok ? list.value.length : 0;
  if (found !== agents) throw new Error(`${found} of ${agents} agents are there`);
}

async function liveAgainMs(home: Home): Promise<number> {
  await Bun.sleep(REST_MS);
  return home.liveAgainMs();
}

async function memory(bench: Bench, history: History): Promise<Row> {
  const bytes = async (some: History) =>
    onHome(bench, await lived(bench, some), some, async (home) => {
      const { daemon } = await until("LIVE", LIVE_MS, async () => {
        const now = await home.status();
        return now?.recovery.stage === "LIVE" ? now : undefined;
      });
      await Bun.sleep(bench.quick ? REST_MS : QUIET_MS);
      const { privateClean, privateDirty } = memoryOf([daemon.pid]);
      return privateClean + privateDirty;
    });
  const [none, all] = [await bytes({ ...history, agents: 0 }), await bytes(history)];
  bench.say(
    `${MEMORY}: ${(none / 1e6).toFixed(1)} MB without, ${(all / 1e6).toFixed(1)} MB with ${history.agents} agents`,
  );
  return costRow({ name: MEMORY, value: (all - none) / history.agents / 1000, unit: "KB", bar: 30 });
}
