// A run of each mode on a simulated machine with the whole daemon, with a crash at every call that changes the disk,
// every start of a holder and every effect: of the daemon alone, and of the whole machine with a disk that forgets
// unsynced data. Then the next life, and one more.
import { afterAll, expect, test } from "bun:test";
import { amount, PROFILE, sampleOf } from "../sim/fuzz/profile.ts";
import { type Blow, idOf, type Keep, type Lived, type LivedRun } from "../sim/holdfast/script.ts";
import { Teller } from "../sim/holdfast/teller.ts";
import { SAMPLES } from "./samples.ts";
import { unagreed } from "./unagreed.ts";

type Flow = (typeof SAMPLES)[number];

/** The sampled calls that the gate crashes at: the machine, and half as often the daemon alone. */
const ONE_IN = 20;
const ID = idOf(1);
const ITEMS = [1, 2, 3];

/** Their outcomes. */
const VARIABLES: Readonly<Record<string, object>> = {
  standard: { x: "a(think)", y: "a(think)!", z: "f(a(think))" },
  iterative: { n: 3, x: "b(3)" },
  mapreduce: { all: 'd(["b(1)","b(3)"])', bad: 1 },
};

/** In simulated time: a recovery, but no round of the engine. */
const SOON_MS = 600;

/** Many times what they take. */
const LIMIT_MS = amount(600_000, 3_600_000);

const teller = new Teller("sweep-main.ts");
afterAll(() => teller.close());

async function live(definition: Flow, ...blows: readonly Blow[]): Promise<Lived & LivedRun> {
  const lived = await teller.live([{ kind: "run", id: ID, definition, items: ITEMS }, ...blows]);
  const run = lived.runs[ID];
  if (run === undefined) throw new Error("there is no run");
  return { ...lived, ...run };
}

const marksOf = ({ marks }: LivedRun) => marks.map(({ mark }) => mark).toSorted();

async function undisturbed(definition: Flow) {
  const calm = await live(definition);
  const state = definition.name === "mapreduce" ? "done_with_failures" : "done"; // One of its items fails.
  expect(calm.end).toMatchObject({ state, variables: VARIABLES[definition.name] ?? {} });
  expect(new Set(marksOf(calm)).size).toBe(calm.marks.length);
  return calm;
}

const calm = new Map(SAMPLES.map((definition) => [definition, undisturbed(definition)]));

/** Crashes at every moment, in the gate at a sample of them; a failure names the moment. */
async function atEveryMoment(
  definition: Flow,
  oneIn: number,
  blow: (after: number) => Blow,
  check: (lived: Lived & LivedRun, calm: Lived & LivedRun) => void,
): Promise<void> {
  const quiet = await calm.get(definition);
  if (quiet === undefined) throw new Error("it has not been told");
  expect(quiet.moments.length).toBeGreaterThan(200);
  for (const [at, moment] of sampleOf([...quiet.moments.entries()], oneIn)) {
    try {
      const lived = await live(definition, blow(at));
      expect(lived.struck).toBe(1);
      check(lived, quiet);
    } catch (error) {
      throw new Error(`crash ${at}, before ${moment}: ${String(error)}`, { cause: error });
    }
  }
}

test.each([...SAMPLES])(
  "UC-8(b,c,d) a $name run whose daemon dies at sampled calls: every effect exactly once, and the same end",
  async (definition) => {
    await atEveryMoment(
      definition,
      2 * ONE_IN,
      (after) => ({ kind: "daemon", after }),
      (lived, quiet) => {
        expect({ ...lived.end, marks: marksOf(lived) }).toEqual({ ...quiet.end, marks: marksOf(quiet) });
        expect(lived.consents).toEqual([]); // No person was asked, and no policy was needed.
        expect(lived.tookMs - quiet.tookMs).toBeLessThan(SOON_MS); // It continued at once, not in a later round.
      },
    );
  },
  LIMIT_MS,
);

/** Of the pending writes: none, any part, or all. One choice at each moment; in the nightly profile all. */
const KEEPS: readonly ((at: number) => Keep)[] = [() => "nothing", (at) => at, () => "everything"];

test.each([...SAMPLES])(
  "UC-8(b,d) a $name run whose machine goes down at sampled calls: no effect twice without consent, and the same end",
  async (definition) => {
    let asked = 0;
    for (let turn = 0; turn < (PROFILE.name === "nightly" ? KEEPS.length : 1); turn += 1) {
      const keep = (at: number) => KEEPS[(at + turn) % KEEPS.length]?.(at) ?? "nothing";
      await atEveryMoment(
        definition,
        ONE_IN,
        (after) => ({ kind: "power", after, keep: keep(after) }),
        (lived, quiet) => {
          expect(unagreed(lived)).toEqual([]);
          expect(lived.end).toEqual(quiet.end);
          expect([...new Set(marksOf(lived))]).toEqual(marksOf(quiet)); // Nothing was left out.
          asked += lived.consents.length;
        },
      );
    }
    expect(asked).toBeGreaterThanOrEqual(amount(1, 10)); // Otherwise nothing was ever uncertain.
  },
  LIMIT_MS,
);
