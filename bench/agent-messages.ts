// agent.messages.N: messages to N = 1, 25, 250 agents over one line, 64 of them not yet acknowledged at any time, until
// every one is delivered:
// taken by the agent's process, and that durable. Messages a second; the peer is the same until every one is
// acknowledged (durable in the inbox).
// agent.messages.1000: CPU time of the daemon for a message, from its acceptance to the end of its turn, with 1,000
// live agents, each with a process; the peer is the same with 25. In both homes 25 agents get the messages, each its
// next one when the turn of the one before has ended, so that only the number of the others differs.
// agent.turns: one agent, one message at a time, each sent when the turn of the one before has ended: turns a second, a
// whole turn through log, holder and process and back. The peer is 25 agents at once, each so.
// The program is a shell that answers at once; agents in a turn get later messages with their next one. Not measured:
// models, messages between agents, agents without a process.
import { AgentHome, CONFIG, freshId } from "./agent-home.ts";
import { Home } from "./home.ts";
import { cpuMsBetween, cpuTimesOf } from "./processes.ts";
import { inTurn, median } from "./rounds.ts";
import { type Row, rateRow, timeRow } from "./row.ts";
import type { Bench } from "./scratch.ts";

const SIZES = [1, 25, 250];
const CROWD = "agent.messages.1000";
const TURNS = "agent.turns";
const MANY = 25;
/** Not yet acknowledged at a time: a person's tools, or a busy tree. */
const WINDOW = 64;
/** An inbox takes 1000 that are not read yet; then it refuses. */
const INBOX = 800;

export async function agentMessages(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  for (const size of SIZES) {
    const name = `agent.messages.${size}`;
    if (names.includes(name)) emit(await withAgents(bench, size, (agents, ids) => messages(name, agents, ids, bench)));
  }
  if (names.includes(CROWD)) emit(await crowd(bench));
  if (names.includes(TURNS)) emit(await withAgents(bench, MANY, (agents, ids) => turns(agents, ids, bench)));
}

async function withAgents<T>(
  bench: Bench,
  count: number,
  measure: (agents: AgentHome, ids: readonly string[], home: Home) => Promise<T>,
): Promise<T> {
  const home = await Home.start(bench, `agents-${freshId().slice(0, 4)}`, CONFIG);
  try {
    const agents = await AgentHome.open(home);
    const ids = await agents.make(count);
    const measured = await measure(agents, ids, home);
    await agents.end(ids);
    return measured;
  } finally {
    await home.end();
  }
}

async function messages(name: string, agents: AgentHome, ids: readonly string[], bench: Bench): Promise<Row> {
  const { rounds, most } = bench.quick ? { rounds: 1, most: 100 } : { rounds: 5, most: 2000 };
  const count = Math.min(most, ids.length * INBOX);
  const seen: { readonly acknowledged: number; readonly delivered: number }[] = [];
  await sent(agents, ids, count); // Warm.
  for (let round = 0; round < rounds; round += 1) seen.push(await sent(agents, ids, count));
  const of = (which: "acknowledged" | "delivered") => seen.map((one) => one[which]);
  bench.say(`${name}: delivered ${of("delivered").map(Math.round).join(", ")} a second`);
  const figures = { name, value: median(of("delivered")), peer: "until acknowledged" };
  return rateRow({ ...figures, peerValue: median(of("acknowledged")) }, "msg/s");
}

/** Both a second. */
async function sent(agents: AgentHome, ids: readonly string[], count: number) {
  const before = agents.delivered;
  const began = performance.now();
  let next = 0;
  const sender = async () => {
    for (let at = next++; at < count; at = next++) await agents.send(ids[at % ids.length] ?? "");
  };
  await Promise.all(Array.from({ length: WINDOW }, sender));
  const acknowledged = (count * 1000) / (performance.now() - began);
  await agents.when("all are delivered", () => agents.delivered >= before + count);
  return { acknowledged, delivered: (count * 1000) / (performance.now() - began) };
}

function crowd(bench: Bench): Promise<Row> {
  const { rounds, count, all } = bench.quick ? { rounds: 1, count: 2, all: 50 } : { rounds: 7, count: 20, all: 1000 };
  return withAgents(bench, all, (many, manyIds, manyHome) =>
    withAgents(bench, MANY, async (few, fewIds, fewHome) => {
      const seen = await inTurn(rounds + 1, [
        () => cpuAMessage(manyHome, many, manyIds.slice(0, MANY), count),
        () => cpuAMessage(fewHome, few, fewIds, count),
      ]);
      const [value = [], peer = []] = seen.map((of) => of.slice(1)); // The first is warm-up.
      bench.say(
        `${CROWD}: ${[value, peer].map((of) => of.map((ms) => ms.toFixed(2)).join(", ")).join(" ms; with 25: ")}`,
      );
      return timeRow({ name: CROWD, value: median(value), peer: `with ${MANY} agents`, peerValue: median(peer) });
    }),
  );
}

async function cpuAMessage(home: Home, agents: AgentHome, ids: readonly string[], count: number): Promise<number> {
  const pid = (await home.status())?.daemon.pid;
  if (pid === undefined) throw new Error("the daemon does not answer");
  const before = cpuTimesOf([pid]);
  await turnsPerSecond(agents, ids, count);
  return cpuMsBetween(before, cpuTimesOf([pid])) / (ids.length * count);
}

async function turns(agents: AgentHome, ids: readonly string[], bench: Bench): Promise<Row> {
  const { rounds, count } = bench.quick ? { rounds: 1, count: 5 } : { rounds: 5, count: 100 };
  const [first = ""] = ids;
  const one: number[] = [];
  const many: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    one.push(await turnsPerSecond(agents, [first], count));
    many.push(await turnsPerSecond(agents, ids, Math.ceil(count / 5)));
  }
  bench.say(
    `${TURNS}: one agent ${one.map(Math.round).join(", ")}; ${MANY} ${many.map(Math.round).join(", ")} a second`,
  );
  return rateRow(
    { name: TURNS, value: median(one), peer: `${MANY} agents at once`, peerValue: median(many) },
    "turns/s",
  );
}

async function turnsPerSecond(agents: AgentHome, ids: readonly string[], count: number): Promise<number> {
  const goals = new Map(ids.map((id) => [id, agents.turnsOf(id) + count]));
  const asked = new Map(ids.map((id) => [id, agents.turnsOf(id)]));
  const began = performance.now();
  const goOn = () => {
    for (const [id, goal] of goals) {
      const ended = agents.turnsOf(id);
      if (ended < goal && asked.get(id) === ended) {
        asked.set(id, ended + 1);
        void agents.send(id);
      }
    }
    return ids.every((id) => agents.turnsOf(id) >= (goals.get(id) ?? 0));
  };
  await agents.when("all turns", goOn);
  return (ids.length * count * 1000) / (performance.now() - began);
}
