// A run of each mode on a simulated machine, with a crash at every call that changes the disk, every start of a holder
// and every effect: of the daemon alone, and of the whole machine with a disk that forgets unsynced data. Then the next
// life, and one more.
import { expect, test } from "bun:test";
import type { Definition } from "../../src/core/workflow/definition.ts";
import { amount, PROFILE, sampleOf } from "../sim/fuzz/profile.ts";
import { SimRandom } from "../sim/random.ts";
import { type Chooser, everything, nothing, randomSurvivor } from "../sim/survive.ts";
import { actedTwice, type Driven, endOf, type SimCrash, simulate, unagreed } from "./sim-drive.ts";

/** The sampled calls that the gate crashes at. */
const ONE_IN = 5;
const ITEMS = [1, 2];
const work = (words: string) => ({ kind: "shell", command: `work ${words}` }) as const;

const AGENT = { kind: "agent", provider: "scripted", prompt: "think", command: ["agent", "work ok"] } as const;

const MODES: readonly Definition[] = [
  {
    name: "standard",
    flow: {
      mode: "standard",
      steps: [
        { id: "a", work: AGENT, capture: { x: "stdout" } },
        { id: "b", work: { kind: "set", values: { y: "${x}!" } } },
        { id: "c", work: work("fail-1 ${y}"), retry: { attempts: 2, backoff_ms: 10, max_backoff_ms: 10 } },
      ],
    },
  },
  {
    name: "iterative",
    flow: {
      mode: "iterative",
      max_iterations: 5,
      until: "n >= 2",
      steps: [
        { id: "a", work: { kind: "set", values: { n: "${default(n, 0) + 1}" } } },
        { id: "b", work: work("ok ${n}"), capture: { x: "stdout" } },
      ],
    },
  },
  {
    name: "map-reduce",
    flow: {
      mode: "mapreduce",
      setup: [{ id: "a", work: work("ok") }],
      map: {
        input: { kind: "file", path: "items.json" },
        max_parallel: 2,
        steps: [{ id: "b", work: work("ok ${item}"), capture: { result: "stdout" } }],
      },
      reduce: [{ id: "c", work: work("ok ${map.results}"), capture: { all: "stdout" } }],
    },
  },
];

/** Their outcomes. */
const VARIABLES: Readonly<Record<string, object>> = {
  standard: { x: "a(think)", y: "a(think)!" },
  iterative: { n: 2, x: "b(2)" },
  "map-reduce": { all: 'c(["b(1)","b(2)"])' },
};

/** In simulated time: a recovery, but no round of the engine. */
const SOON_MS = 600;

const marksOf = ({ marks }: Driven) => marks.map(({ mark }) => mark).toSorted();

async function undisturbed(definition: Definition): Promise<Driven> {
  const calm = await simulate(definition, ITEMS, []);
  expect(endOf(calm.run)).toMatchObject({ state: "done", variables: VARIABLES[definition.name] ?? {} });
  expect(new Set(marksOf(calm)).size).toBe(calm.marks.length);
  return calm;
}

/** Crashes at every moment, in the gate at a sample of them; a failure names the moment. */
async function atEveryMoment(
  definition: Definition,
  crash: (at: number) => SimCrash,
  check: (driven: Driven) => void,
): Promise<number> {
  const { moments } = await undisturbed(definition);
  for (const [at, moment] of sampleOf([...moments.entries()], ONE_IN)) {
    try {
      const driven = await simulate(definition, ITEMS, [crash(at)]);
      expect(driven.crashed).toBe(1);
      check(driven);
    } catch (error) {
      throw new Error(`crash ${at}, before ${moment}: ${String(error)}`, { cause: error });
    }
  }
  return moments.length;
}

test.each([...MODES])(
  "UC-8(b,c,d) a $name run whose daemon dies at sampled calls: every effect exactly once, and the same end",
  async (definition) => {
    const calm = await undisturbed(definition);
    const expected = { ...endOf(calm.run), marks: marksOf(calm) };
    const check = (driven: Driven) => {
      expect({ ...endOf(driven.run), marks: marksOf(driven) }).toEqual(expected);
      expect(driven.consents.size).toBe(0); // No person was asked, and no policy was needed.
      expect(driven.tookMs - calm.tookMs).toBeLessThan(SOON_MS); // It continued at once, not in a later round.
    };
    expect(await atEveryMoment(definition, (at) => ({ at }), check)).toBeGreaterThan(100);
  },
  600_000,
);

/** Of the pending writes: none, all, or any part. One choice at each moment; in the nightly profile all. */
const ENDINGS: readonly ((at: number) => Chooser)[] = [
  () => nothing,
  (at) => randomSurvivor(new SimRandom(at)),
  () => everything,
];

test.each([...MODES])(
  "UC-8(b,d) a $name run whose machine goes down at sampled calls: no effect twice without consent, and the same end",
  async (definition) => {
    const calm = await undisturbed(definition);
    let asked = 0;
    const check = (driven: Driven) => {
      expect([...actedTwice(driven), ...unagreed(driven)]).toEqual([]);
      expect(endOf(driven.run)).toEqual(endOf(calm.run));
      expect([...new Set(marksOf(driven))]).toEqual(marksOf(calm)); // Nothing was left out.
      asked += driven.consents.size;
    };
    for (let turn = 0; turn < (PROFILE.name === "nightly" ? ENDINGS.length : 1); turn += 1) {
      const ending = (at: number) => ENDINGS[(at + turn) % ENDINGS.length]?.(at) ?? nothing;
      await atEveryMoment(definition, (at) => ({ at, machine: ending(at) }), check);
    }
    expect(asked).toBeGreaterThan(amount(1, 10)); // Otherwise nothing was ever uncertain.
  },
  600_000,
);
