// agent.recover.1000: the daemon is killed with SIGKILL while it has 1,000 agents with 200 events each, until the status of another one says
// LIVE; that one has read the agents' checkpoints and the tails of their logs. The peer is the same home without checkpoints.
// agent.recover.1000.growth: the same figure; the peer is a home whose agents have 20 events each.
// agent.memory: what an idle agent takes in the daemon: private memory of a daemon with 1,000 of them that have 20 events each, less that of one
// that has none, in KB (10³). Its process, where it has one, is in a holder (terminal.memory).
// The agents are bare models at rest: no process of theirs is in the figures. Every one of them must be there afterwards.
// Not measured: agents in mid-turn, processes to be found again (recovery.daemon), a cold page cache.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { PLAIN_HOUSE } from "../src/core/agent/draft.ts";
import { AgentCheckpoints } from "../src/daemon/agents/checkpoints.ts";
import { AgentTurn } from "../src/daemon/agents/turn.ts";
import { realClock } from "../src/world/real-clock.ts";
import { realDisk } from "../src/world/real-disk.ts";
import { CONFIG, freshId } from "./agent-home.ts";
import { Home } from "./home.ts";
import { memoryOf } from "./processes.ts";
import { median } from "./rounds.ts";
import { costRow, type Row, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";
import { until } from "./waiting.ts";
import { openLog } from "./writers.ts";

const RECOVER = "agent.recover.1000";
const GROWTH = "agent.recover.1000.growth";
const MEMORY = "agent.memory";
/** A turn of a bare model is five events. */
const EVENTS_A_TURN = 5;
const LIVE_MS = 120_000;
/** What was started after LIVE has come to rest. */
const REST_MS = 500;
/** A daemon that has come to rest has given back what its start took. */
const QUIET_MS = 20_000;

type History = { readonly agents: number; readonly turns: number };
type Seen = { readonly ms: number; readonly withoutMs: number };

export async function agentRecover(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const quick = { agents: 20, long: 10, short: 2 };
  const { agents, long, short } = bench.quick ? quick : { agents: 1000, long: 40, short: 4 };
  const few = { agents, turns: short };
  if (names.includes(RECOVER) || names.includes(GROWTH)) {
    const { ms: value, withoutMs } = await recovered(bench, { agents, turns: long });
    if (names.includes(RECOVER))
      emit(timeRow({ name: RECOVER, value, peer: "without checkpoints", peerValue: withoutMs }));
    const peer = `with ${short * EVENTS_A_TURN} events each`;
    if (names.includes(GROWTH))
      emit(timeRow({ name: GROWTH, value, peer, peerValue: (await recovered(bench, few)).ms }));
  }
  if (names.includes(MEMORY)) emit(await memory(bench, few));
}

/** The medians of some kills, first with checkpoints and then without. */
async function recovered(bench: Bench, history: History): Promise<Seen> {
  const name = await lived(bench, history);
  const ms = await onHome(bench, name, history, (home) => killed(bench, home));
  const what = `${history.agents} agents of ${history.turns * EVENTS_A_TURN} events`;
  const text = (seen: readonly number[]) => seen.map(Math.round).join(", ");
  bench.say(`  ${what}: LIVE after ${text(ms)} ms`);
  for (const path of new Glob("agents/*/checkpoint*.json").scanSync(join(bench.directory, name)))
    rmSync(join(bench.directory, name, path));
  const without = await onHome(bench, name, history, (home) => killed(bench, home));
  bench.say(`  ${what}: without checkpoints ${text(without)} ms`);
  return { ms: median(ms), withoutMs: median(without) };
}

async function killed(bench: Bench, home: Home): Promise<number[]> {
  const seen: number[] = [];
  for (let kill = 0; kill < (bench.quick ? 1 : 5); kill += 1) seen.push(await liveAgainMs(home));
  return seen;
}

/** The name of a home in which that was. */
async function lived(bench: Bench, history: History): Promise<string> {
  const name = `recover-${freshId().slice(0, 6)}`;
  await live(makePlace(bench, name), history);
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

/** What so many agents leave that have had so many turns each: the daemon's own turn and log, without a daemon around them. */
async function live(home: string, { agents, turns }: History): Promise<void> {
  const log = await openLog(home);
  const place = { disk: realDisk(), clock: realClock(), home };
  const broken = (error: unknown) => {
    throw error;
  };
  const saved = new AgentCheckpoints(place, { isOff: () => false, say: () => undefined, broken });
  const turn = new AgentTurn(log, place.clock, () => ({ ...PLAIN_HOUSE, slots: { openai: agents } }), {
    publish: () => undefined,
    settled: (events, _, ticket, after) =>
      saved.heard(
        events.map(({ id }) => id),
        ticket,
        after,
      ),
    perform: () => undefined,
    broken,
  });
  const ids = Array.from({ length: agents }, freshId);
  for (const id of ids) await created(turn, id);
  for (let number = 1; number <= turns; number += 1) await Promise.all(ids.map((id) => oneTurn(turn, id, number)));
  await saved.finish();
  await log.close();
}

async function created(turn: AgentTurn, id: string): Promise<void> {
  const recipe = { provider: "openai", model: "m", command: [], flags: [], permissionMode: null, options: {} } as const;
  const plan = { recipe, system_prompt: "", cwd: "/", environment: {}, workspace: null };
  const wish = { kind: "create", id, name: `a${id}`, parent: undefined, instructions: "", plan, settings: {} } as const;
  mustBe(await turn.submit(wish));
}

async function oneTurn(turn: AgentTurn, id: string, number: number): Promise<void> {
  const payload = `Message ${number}, of about as many words as people write.`;
  mustBe(await turn.submit({ kind: "send", id, message: freshId(), payload, replyTo: undefined }));
  const events = [{ kind: "done", response: `Answer ${number}.` }] as const;
  mustBe(await turn.submit({ kind: "read", id, generation: 0, offset: number, events }));
}

function mustBe(answer: { readonly ok: boolean; readonly error?: { readonly message: string } }): void {
  if (!answer.ok) throw new Error(answer.error?.message);
}

async function liveAgainMs(home: Home): Promise<number> {
  await Bun.sleep(REST_MS);
  const { daemon } = await until("the status", LIVE_MS, () => home.status());
  const before = performance.now();
  process.kill(daemon.pid, "SIGKILL");
  await until("LIVE", LIVE_MS, async () => {
    const now = await home.status();
    return now?.recovery.stage === "LIVE" && now.daemon.pid !== daemon.pid ? now : undefined;
  });
  return performance.now() - before;
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
