// A workflow of agent steps on a simulated machine with the whole daemon, with crashes at the calls that change the
// disk, every start of a holder, every effect and every request: of the daemon alone, and of the whole machine with a
// disk that forgets unsynced data.
import { afterAll, expect, test } from "bun:test";
import type { Definition } from "../../src/core/workflow/definition.ts";
import { amount, sampleOf } from "../sim/fuzz/profile.ts";
import { type Blow, idOf, type Keep, type Lived } from "../sim/holdfast/script.ts";
import { Teller } from "../sim/holdfast/teller.ts";

const ID = idOf(1);
/** Many times what they take. */
const LIMIT_MS = amount(600_000, 3_600_000);

const teller = new Teller("sweep-main.ts");
afterAll(() => teller.close());

const agent = (provider: string, prompt: string) => ({ kind: "agent", provider, prompt }) as const;

const FLOW: Definition = {
  name: "thinking",
  flow: {
    mode: "standard",
    steps: [
      { id: "a", work: agent("actor", ">> note a1\n>> ask Bash a2\n>> note a3"), capture: { x: "stdout" } },
      { id: "b", work: agent("model", "Think of ${x}."), capture: { y: "stdout" } },
      { id: "c", work: { kind: "set", values: { z: "${x} ${y}" } } },
    ],
  },
};

/** One agent for each attempt, with one turn and one end. */
const END = {
  end: { state: "done", variables: { x: "3", y: "I did 0.", z: "3 I did 0." } },
  notes: ["a1", "a2 allow", "a3"],
  events: {
    ...{ "agent.created": 2, "agent.terminated": 2, "turn.start": 2, "turn.complete": 2 },
    ...{ "workflow.attempt.started": 2, "workflow.attempt.ended": 2 },
  },
};

/** Each of its agents would take longer than the step's timeout. */
const SLOW: Definition = {
  name: "slow",
  flow: {
    mode: "standard",
    steps: [
      {
        ...{ id: "a", work: agent("actor", Array.from({ length: 99 }, (_, at) => `>> note ${at}`).join("\n")) },
        ...{ timeout_ms: 60, retry: { attempts: 2, backoff_ms: 10, max_backoff_ms: 10 } },
      },
    ],
  },
};

/** Two attempts, each stopped once. */
const STOPPED = {
  end: { state: "failed" },
  events: {
    ...{ "agent.created": 2, "agent.terminated": 2, "turn.start": 2 },
    ...{ "workflow.attempt.started": 2, "workflow.attempt.ended": 2 },
  },
};

const COUNTED =
  /^(agent\.(created|terminated)|turn\.(start|complete|failed)|workflow\.attempt\.(started|ended|uncertain))$/;

/** It is over when no agent is left. */
async function live(definition: Definition, ...blows: readonly Blow[]): Promise<Lived> {
  return teller.live([{ kind: "run", id: ID, definition, items: [] }, ...blows]);
}

function check({ runs, notes, events }: Lived, end: typeof END | typeof STOPPED): void {
  const counted = Object.fromEntries(Object.entries(events).filter(([event]) => COUNTED.test(event)));
  expect({ end: runs[ID]?.end, notes, events: counted }).toMatchObject(end);
  expect(counted).toEqual(end.events);
}

async function endAfter(flow: Definition, end: typeof END | typeof STOPPED, blow: Blow, what: string): Promise<void> {
  try {
    const lived = await live(flow, blow);
    check(lived, end);
    expect(lived.struck).toBe(1);
  } catch (error) {
    throw new Error(`crash ${blow.after}, before ${what}: ${String(error)}`, { cause: error });
  }
}

const calm = live(FLOW);

/** In the gate one in so many of them, different for each kind of crash. */
const ONE_IN = 30;

function some(moments: readonly string[], turn: number): [number, string][] {
  expect(moments.length).toBeGreaterThan(100);
  return sampleOf([...moments.entries()], ONE_IN, turn);
}

test("agent steps without a crash: one agent, one turn and one end for each, and no agent is left", async () => {
  check(await calm, END);
});

test(
  "UC-8(b,d) the daemon dies at sampled calls of a run of agent steps: one agent, one turn, one end each",
  async () => {
    for (const [after, what] of some((await calm).moments, 0))
      await endAfter(FLOW, END, { kind: "daemon", after }, what);
  },
  LIMIT_MS,
);

const KEEPS: readonly ((at: number) => Keep)[] = [() => "nothing", (at) => at, () => "everything"];

test(
  "UC-8(b,d) the machine goes down at sampled calls of a run of agent steps: nothing is uncertain, and the same end",
  async () => {
    for (const [number, [after, what]] of some((await calm).moments, 4).entries()) {
      const keep = KEEPS[number % KEEPS.length]?.(after) ?? "nothing";
      await endAfter(FLOW, END, { kind: "power", after, keep }, what);
    }
  },
  LIMIT_MS,
);

test(
  "an agent step that takes too long is stopped and retried, with the daemon dying at every call (every 30th in the profile ci): none of its agents keeps working",
  async () => {
    const slow = await live(SLOW);
    check(slow, STOPPED);
    for (const [after, what] of some(slow.moments, 1)) await endAfter(SLOW, STOPPED, { kind: "daemon", after }, what);
  },
  LIMIT_MS,
);
