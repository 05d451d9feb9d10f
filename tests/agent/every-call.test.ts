// A tree of agents and a bare LLM on a simulated machine, with a crash at every call that changes the disk, every start
// of a holder, every effect and every request: of the daemon alone, and of the whole machine with a disk that forgets
// unsynced data. Then the next life, and one more. After each the oracle checks everything (sim-oracle.ts). The gate
// crashes at a sample of these calls; `full` crashes at all.
import { expect, test } from "bun:test";
import { amount, PROFILE, sampleOf } from "../sim/fuzz/profile.ts";
import { SimRandom } from "../sim/random.ts";
import { type Chooser, everything, nothing, randomSurvivor } from "../sim/survive.ts";
import type { SimCrash, SimMoment } from "./sim-drive.ts";
import { MODEL, ROOT, type Told, tell, tellEagerly } from "./sim-stories.ts";

/** The sampled calls that the gate crashes at. */
const ONE_IN = 26;
const calm = tell();
const NOTES = ["k1 allow", "k2", "r1", "r2", "r3", "u1"];

/** Crashes there and only there; a failure names the place. */
async function disturbed(crash: SimCrash, { what }: SimMoment): Promise<Told> {
  try {
    const told = await tell(crash);
    expect(told.simulation.crashed).toBe(1);
    expect(told.end).toEqual((await calm).end);
    return told;
  } catch (error) {
    throw new Error(`crash ${crash.at}, before ${what}: ${String(error)}`, { cause: error });
  }
}

/** Different ones for each `turn`; the crash fuzzer covers the others. */
async function moments(turn: number): Promise<[number, SimMoment][]> {
  const { simulation } = await calm;
  expect(simulation.calls).toBeGreaterThan(300);
  return sampleOf([...simulation.moments.slice(0, simulation.calls).entries()], ONE_IN, turn);
}

test("FI-1(a) FI-3(f) the story without a crash: everything is done once, and the model's conversation is complete", async () => {
  const { end, simulation } = await calm;
  expect(end.notes).toEqual(NOTES);
  expect(end.agents.map(([name, by]) => [name, by])).toEqual([
    ["aaaa", "user"],
    ["bbbb", undefined],
    ["kid", "complete"],
  ]);
  expect(simulation.machine.model.asked.at(-1)).toMatchObject([
    { role: "user" },
    { role: "assistant", tool_calls: [{ function: { name: "list_children" } }] },
    { role: "tool", tool_call_id: "llm-0" },
    { role: "assistant", tool_calls: [{ function: { name: "remind_me" } }] },
    { role: "tool", tool_call_id: "llm-1" },
    { role: "assistant", content: "I did 2." },
    { role: "user", content: expect.stringContaining("Enough.") },
  ]);
});

test("FI-3(a,b,c,d,e,f) the daemon dies at sampled calls: each agent, message, prompt and effect once, and the same end", async () => {
  for (const [at, moment] of await moments(0)) {
    const { simulation } = await disturbed({ at }, moment);
    const uuids = simulation.machine.agents.given.map(({ uuid }) => uuid);
    try {
      expect(uuids).toEqual([...new Set(uuids)]); // The holder survived: no prompt is delivered twice.
    } catch (error) {
      throw new Error(`crash ${at}, before ${moment.what}: ${String(error)}`, { cause: error });
    }
  }
}, 600_000);

/** Of the pending writes: none, all, or any part. One choice at each moment; in the nightly profile all. */
const ENDINGS: readonly ((at: number) => Chooser)[] = [
  () => nothing,
  (at) => randomSurvivor(new SimRandom(at)),
  () => everything,
];

test("FI-3(a,b,c,d,e,f) the machine goes down at sampled calls: nothing acknowledged is lost, and the same end", async () => {
  for (let turn = 0; turn < (PROFILE.name === "nightly" ? ENDINGS.length : 1); turn += 1)
    for (const [number, [at, moment]] of (await moments(ONE_IN >> 1)).entries())
      await disturbed({ at, machine: ENDINGS[(number + turn) % ENDINGS.length]?.(at) ?? nothing }, moment);
}, 600_000);

test("EL-2 a program that answers at once gets nothing that is not durable yet, with a crash at sampled calls", async () => {
  const { end, simulation } = await tellEagerly();
  expect(end).toEqual((await calm).end);
  const calls = Array.from({ length: simulation.calls }, (_, at) => at);
  for (const at of sampleOf(calls, 3 * ONE_IN)) {
    for (const crash of [{ at }, { at, machine: nothing }]) {
      const told = await tellEagerly(crash);
      expect([at, told.end]).toEqual([at, end]);
    }
  }
}, 600_000);

/** The moments from when the first event was durable until the second was: `after` and `before` select the events. */
type Window = { readonly name: string; readonly from: Seen; readonly to: Seen };
type Seen = (heard: Told["simulation"]["heard"]) => number;

const first =
  (event: string, who?: "kid" | "root", holds: (data: object) => boolean = () => true): Seen =>
  (heard) =>
    heard.findIndex(({ event: name, id, data }) => {
      const kid = id !== ROOT && id !== MODEL;
      return name === event && (who === undefined || kid === (who === "kid")) && id !== MODEL && holds(data);
    });
/** The first of these after that. */
const next =
  (after: Seen, event: string): Seen =>
  (heard) =>
    heard.findIndex(({ event: name, id }, at) => at > after(heard) && name === event && id === ROOT);
const result = (heard: Told["simulation"]["heard"]) =>
  heard.find((one) => one.event === "message.enqueued" && one.data.kind === "result")?.data;
const resultDelivered: Seen = (heard) =>
  heard.findIndex(
    (one) => one.event === "message.delivered" && one.data.message_id === Object(result(heard)).message_id,
  );
const ofUser = (data: object) => Object(data).sender === "user" && Object(data).kind === "message";
const m1Delivered: Seen = (heard) =>
  heard.findIndex((one) => one.event === "message.delivered" && one.data.message_id.startsWith("m1"));
const created = first("agent.created", "kid");

/**
 * The seven of the specification; here the log is written before the record, so the second is the moment before both.
 */
const POINTS: readonly Window[] = [
  {
    name: "1: after create(), before the session record",
    from: first("session.created", "kid"),
    to: first("process.running", "kid"),
  },
  { name: "2: before agent.created is logged", from: first("input.taken", "root"), to: created },
  { name: "3: after agent.created, before the spawn is acknowledged", from: created, to: next(created, "input.taken") },
  {
    name: "4: after send(), before the response is logged",
    from: next(created, "input.taken"),
    to: first("turn.complete", "root"),
  },
  {
    name: "5: after the response, before the reply is delivered",
    from: first("agent.completed", "kid"),
    to: resultDelivered,
  },
  {
    name: "6: after a message is enqueued, before its delivery is logged",
    from: first("message.enqueued", "root", ofUser),
    to: m1Delivered,
  },
  {
    name: "7: after agent.terminated, before it has left",
    from: first("agent.terminated", "root"),
    to: next(first("agent.terminated", "root"), "process.ended"),
  },
];
const MAX_OF_A_WINDOW = amount(1, 6);

test.each([...POINTS])("FI-2 crash point $name", async ({ from, to }) => {
  const { heard, moments: all } = (await calm).simulation;
  const [begin, end] = [from(heard), to(heard)];
  expect(begin).toBeGreaterThanOrEqual(0);
  expect(end).toBeGreaterThan(begin);
  const within = [...all.entries()].filter(([, { events }]) => events > begin && events <= end);
  expect(within.length).toBeGreaterThan(0);
  const step = Math.ceil(within.length / MAX_OF_A_WINDOW);
  for (const [at, moment] of within.filter((_, number) => number % step === 0 || number === within.length - 1)) {
    await disturbed({ at }, moment);
    await disturbed({ at, machine: nothing }, moment);
  }
});

test("what a process said before the machine went down is read from its record: no agent is asked to continue", async () => {
  const { simulation } = await calm;
  const { heard, moments: all, machine } = simulation;
  const said = all.findIndex(({ ended }) => ended === 1);
  const complete = first("turn.complete", "root")(heard);
  const at = all.findIndex(
    ({ what, events }, number) => number > said && events <= complete && /^write .*wal/.test(what),
  );
  expect(at).toBeGreaterThan(said);
  const told = await tell({ at, machine: everything });
  expect(told.end).toEqual((await calm).end);
  const [root] = machine.agents.given;
  const rootsOf = ({ agents }: typeof machine) => agents.given.filter(({ session }) => session === root?.session);
  const begun = rootsOf(told.simulation.machine).filter(({ lines }) => lines.length === 0 || lines.includes("note r1"));
  expect(begun.map(({ lines }) => lines.length)).toEqual([2]);
});
