// A workflow of agent steps on a simulated machine, with crashes at the calls that change the disk, every start of a
// holder, every effect and every request: of the daemon alone, and of the whole machine with a disk that forgets
// unsynced data.
import { expect, test } from "bun:test";
import type { Definition } from "../../src/core/workflow/definition.ts";
import { sampleOf } from "../sim/fuzz/profile.ts";
import { SimRandom } from "../sim/random.ts";
import { type Chooser, everything, nothing, randomSurvivor } from "../sim/survive.ts";
import { type StepCrash, StepSimulation } from "./sim-steps.ts";

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
  state: "done" as const,
  variables: { x: "3", y: "I did 0.", z: "3 I did 0." },
  attempts: 2,
  notes: ["a1", "a2 allow", "a3"],
  counts: {
    ...{ "agent.created": 2, "agent.terminated": 2, "turn.start": 2, "turn.complete": 2 },
    ...{ "workflow.attempt.started": 2, "workflow.attempt.ended": 2 },
  },
  left: [],
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

/** Two attempts, each stopped once, and no agent left working. */
const STOPPED = {
  ...{ state: "failed" as const, attempts: 2, left: [] },
  counts: {
    ...{ "agent.created": 2, "agent.terminated": 2, "turn.start": 2 },
    ...{ "workflow.attempt.started": 2, "workflow.attempt.ended": 2 },
  },
};

async function endAfter(
  flow: Definition,
  end: typeof END | typeof STOPPED,
  crash: StepCrash,
  what: string,
): Promise<void> {
  const simulation = new StepSimulation(flow, crash);
  try {
    const came = await simulation.finish();
    expect(came).toMatchObject(end);
    expect(came.counts).toEqual(end.counts);
    expect(simulation.crashed).toBe(1);
  } catch (error) {
    throw new Error(`crash ${crash.at}, before ${what}: ${String(error)}`, { cause: error });
  }
}

async function undisturbed(flow: Definition) {
  const simulation = new StepSimulation(flow);
  return { end: await simulation.finish(), moments: simulation.moments };
}

const calm = undisturbed(FLOW);

/** In the gate one in twelve of them, different for each kind of crash. */
function some(moments: readonly string[], turn: number): [number, string][] {
  expect(moments.length).toBeGreaterThan(100);
  return sampleOf([...moments.entries()], 12, turn);
}

test("agent steps without a crash: one agent, one turn and one end for each, and no agent is left", async () => {
  expect((await calm).end).toEqual(END);
});

test("UC-8(b,d) the daemon dies at sampled calls of a run of agent steps: one agent, one turn, one end each", async () => {
  for (const [at, what] of some((await calm).moments, 0)) await endAfter(FLOW, END, { at }, what);
}, 600_000);

const ENDINGS: readonly ((at: number) => Chooser)[] = [
  () => nothing,
  (at) => randomSurvivor(new SimRandom(at)),
  () => everything,
];

test("UC-8(b,d) the machine goes down at sampled calls of a run of agent steps: nothing is uncertain, and the same end", async () => {
  for (const [number, [at, what]] of some((await calm).moments, 4).entries())
    await endAfter(FLOW, END, { at, machine: ENDINGS[number % ENDINGS.length]?.(at) ?? nothing }, what);
}, 600_000);

test("an agent step that takes too long is stopped and retried, with the daemon dying at every call (every ninth in the profile ci): none of its agents keeps working", async () => {
  const { end, moments } = await undisturbed(SLOW);
  expect(end).toMatchObject(STOPPED);
  for (const [at, what] of some(moments, 1)) await endAfter(SLOW, STOPPED, { at }, what);
}, 600_000);
