// A tree of agents and a bare LLM on a simulated machine with the whole daemon, with a crash at every call that changes
// the disk, every start of a holder, every effect and every request: of the daemon alone, and of the whole machine with
// a disk that forgets unsynced data. Then the next life, and one more. In each the oracle checks everything
// (sim-oracle.ts, sim-witness.ts). The gate crashes at a sample of these calls; `full` crashes at all.
import { afterAll, expect, test } from "bun:test";
import { amount, PROFILE, sampleOf } from "../sim/fuzz/profile.ts";
import type { Blow, Heard, Keep, Lived, LivedAgents, Script } from "../sim/holdfast/script.ts";
import { Teller } from "../sim/holdfast/teller.ts";
import { EAGER_STORY, MESSAGE, MODEL, ROOT, STORY } from "./sim-stories.ts";

/** The sampled calls that the gate crashes at. */
const ONE_IN = 120;
const NOTES = ["k1 allow", "k2", "r1", "r2", "r3", "u1"];

const teller = new Teller("sweep-main.ts");
afterAll(() => teller.close());

async function live(script: Script): Promise<Lived & { readonly agents: LivedAgents }> {
  const { agents, ...lived } = await teller.live(script);
  if (agents === undefined) throw new Error("there are no agents");
  return { ...lived, agents };
}

const calm = live([{ kind: "heed" }, ...STORY]);

/** Crashes there and only there; a failure names the place. */
async function disturbed(script: Script, blow: Blow): Promise<LivedAgents> {
  const { agents, notes, moments } = await calm;
  try {
    const lived = await live([...script, blow]);
    expect(lived.struck).toBe(1);
    expect(lived.notes).toEqual(notes);
    expect(lived.agents.ends).toEqual(agents.ends);
    return lived.agents;
  } catch (error) {
    throw new Error(`${JSON.stringify(blow)}, before ${moments[blow.after]}: ${String(error)}`, { cause: error });
  }
}

/** Different ones for each `turn`; the crash fuzzer covers the others. */
async function places(turn: number): Promise<number[]> {
  const { moments } = await calm;
  expect(moments.length).toBeGreaterThan(300);
  return sampleOf([...moments.keys()], ONE_IN, turn);
}

test("FI-1(a) FI-3(f) the story without a crash: everything is done once, and the model's conversation is complete", async () => {
  const { notes, agents } = await calm;
  expect(notes).toEqual(NOTES);
  expect(agents.ends.map(({ name, by }) => [name, by])).toEqual([
    [ROOT.slice(0, 4), "user"],
    [MODEL.slice(0, 4), undefined],
    ["kid", "complete"],
  ]);
  expect(agents.asked.at(-1)).toMatchObject([
    { role: "user" },
    { role: "assistant", tool_calls: [{ function: { name: "list_children" } }] },
    { role: "tool", tool_call_id: "llm-0" },
    { role: "assistant", tool_calls: [{ function: { name: "remind_me" } }] },
    { role: "tool", tool_call_id: "llm-1" },
    { role: "assistant", content: "I did 2." },
    { role: "user", content: expect.stringContaining("Enough.") },
    { role: "assistant", content: "I did 2." },
    { role: "user", content: expect.stringContaining("next") },
  ]);
});

test("FI-3(a,b,c,d,e,f) the daemon dies at sampled calls: each agent, message, prompt and effect once, and the same end", async () => {
  for (const after of await places(0)) {
    const { given } = await disturbed(STORY, { kind: "daemon", after });
    const uuids = given.map(({ uuid }) => uuid);
    expect([after, uuids]).toEqual([after, [...new Set(uuids)]]); // The holder survived: no prompt is delivered twice.
  }
}, 600_000);

/** Of the pending writes: none, all, or any part. One choice at each moment; in the nightly profile all. */
const KEEPS: readonly ((at: number) => Keep)[] = [() => "nothing", (at) => at, () => "everything"];

test("FI-3(a,b,c,d,e,f) the machine goes down at sampled calls: nothing acknowledged is lost, and the same end", async () => {
  for (let turn = 0; turn < (PROFILE.name === "nightly" ? KEEPS.length : 1); turn += 1)
    for (const [number, after] of (await places(ONE_IN >> 1)).entries()) {
      const keep = KEEPS[(number + turn + PROFILE.seed) % KEEPS.length]?.(after) ?? "nothing";
      await disturbed(STORY, { kind: "power", after, keep });
    }
}, 600_000);

test("EL-2 a program that answers at once gets nothing that is not durable yet, with a crash at sampled calls", async () => {
  const { moments, notes, agents } = await live(EAGER_STORY);
  expect([notes, agents.ends]).toEqual([NOTES, (await calm).agents.ends]);
  for (const after of sampleOf([...moments.keys()], 3 * ONE_IN)) {
    await disturbed(EAGER_STORY, { kind: "daemon", after });
    await disturbed(EAGER_STORY, { kind: "power", after, keep: "nothing" });
  }
}, 600_000);

/** The moments from when the first event was durable until the second was: `from` and `to` select the events. */
type Window = { readonly name: string; readonly from: Seen; readonly to: Seen };
type Seen = (heard: readonly Heard[]) => number;

const first =
  (event: string, who?: "kid" | "root", holds: (data: Heard["data"]) => boolean = () => true): Seen =>
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
const resultDelivered: Seen = (heard) => {
  const result = heard.find(({ event, data }) => event === "message.enqueued" && data["kind"] === "result");
  return delivered(result?.data["message_id"])(heard);
};
const delivered =
  (message: unknown): Seen =>
  (heard) =>
    heard.findIndex(({ event, data }) => event === "message.delivered" && data["message_id"] === message);
const ofUser = (data: Heard["data"]) => data["sender"] === "user" && data["kind"] === "message";
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
    to: delivered(MESSAGE),
  },
  {
    name: "7: after agent.terminated, before it has left",
    from: first("agent.terminated", "root"),
    to: next(first("agent.terminated", "root"), "process.ended"),
  },
];
const MAX_OF_A_WINDOW = amount(1, 6);

test.each([...POINTS])("FI-2 crash point $name", async ({ from, to }) => {
  const { heard, progress } = (await calm).agents;
  const [begin, end] = [from(heard), to(heard)];
  expect(begin).toBeGreaterThanOrEqual(0);
  expect(end).toBeGreaterThan(begin);
  const within = [...progress.keys()].filter((at) => {
    const { events = 0 } = progress[at] ?? {};
    return events > begin && events <= end;
  });
  expect(within.length).toBeGreaterThan(0);
  const step = Math.ceil(within.length / MAX_OF_A_WINDOW);
  for (const after of within.filter((_, number) => number % step === PROFILE.seed % step)) {
    await disturbed(STORY, { kind: "daemon", after });
    await disturbed(STORY, { kind: "power", after, keep: "nothing" });
  }
});

test("what a process said before the machine went down is read from its record: no agent is asked to continue", async () => {
  const { agents, moments } = await calm;
  const said = agents.progress.findIndex(({ ended }) => ended === 1);
  const complete = first("turn.complete", "root")(agents.heard);
  const after = moments.findIndex(
    (what, at) => at > said && (agents.progress[at]?.events ?? 0) <= complete && /^write .*wal/.test(what),
  );
  expect(after).toBeGreaterThan(said);
  const { given } = await disturbed(STORY, { kind: "power", after, keep: "everything" });
  const begun = given.filter(
    ({ session, lines }) => session === agents.given[0]?.session && (lines.length === 0 || lines.includes("note r1")),
  );
  expect(begun.map(({ lines }) => lines.length)).toEqual([2]);
});
