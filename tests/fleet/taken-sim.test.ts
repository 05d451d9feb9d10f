// A home is taken over by another host at every moment of a run, of a terminal's life and of a story of agents: its
// logs are there, and no claim, exit or spec is. The whole daemon on a simulated machine, and then its next life.
// TS1. What was begun on the other host is uncertain, and never counts as not started.
import { afterAll, expect, test } from "bun:test";
import { STORY } from "../agent/sim-stories.ts";
import { amount, sampleOf } from "../sim/fuzz/profile.ts";
import { type Blow, idOf, type Lived, type LivedRun, type Script } from "../sim/holdfast/script.ts";
import { Teller } from "../sim/holdfast/teller.ts";
import { SAMPLES } from "../workflow/samples.ts";
import { unagreed } from "../workflow/unagreed.ts";

/** The sampled moments in the gate; otherwise all. */
const ONE_IN = 12;
const LIMIT_MS = amount(600_000, 3_600_000);
const ID = idOf(1);

const teller = new Teller("sweep-main.ts");
afterAll(() => teller.close());

const taken = (after: number): Blow => ({ kind: "taken", after });

/** Takes it over at these moments; a failure names the moment. Returns how many there were. */
async function atMoments(
  moments: readonly string[],
  script: (after: number) => Script,
  check: (lived: Lived) => void,
): Promise<number> {
  const chosen = sampleOf([...moments.entries()], ONE_IN);
  for (const [at, moment] of chosen) {
    try {
      check(await teller.live(script(at)));
    } catch (error) {
      throw new Error(`at ${at}, before ${moment}: ${String(error)}`, { cause: error });
    }
  }
  return chosen.length;
}

function runOf({ runs }: Lived): LivedRun {
  const run = runs[ID];
  if (run === undefined) throw new Error("there is no run");
  return run;
}

const marksOf = ({ marks }: LivedRun) => marks.map(({ mark }) => mark).toSorted();

test.each([...SAMPLES])(
  "TS1 a $name run that is taken over: no effect twice without consent, none left out, and the same end",
  async (definition) => {
    const wish = { kind: "run", id: ID, definition, items: [1, 2, 3] } as const;
    const calm = await teller.live([wish]);
    let asked = 0;
    const check = (lived: Lived) => {
      expect(unagreed(runOf(lived))).toEqual([]);
      expect(runOf(lived).end).toEqual(runOf(calm).end);
      expect([...new Set(marksOf(runOf(lived)))]).toEqual(marksOf(runOf(calm)));
      asked += runOf(lived).consents.length;
    };
    const many = await atMoments(calm.moments, (at) => [wish, taken(at)], check);
    // Most moments are in a step, and a person or the file was asked each time.
    expect(asked).toBeGreaterThan(many / 4);
  },
  LIMIT_MS,
);

test(
  "TS1 the recovery of a home that was taken over is interrupted, and the next one: still no effect twice",
  async () => {
    const [, definition] = SAMPLES;
    if (definition === undefined) throw new Error("there is no sample");
    const wish = { kind: "run", id: ID, definition, items: [] } as const;
    const calm = await teller.live([wish]);
    const effect = calm.moments.indexOf("the effect is there");
    const { moments } = await teller.live([wish, taken(effect)]);
    const check = (lived: Lived) => {
      expect(unagreed(runOf(lived))).toEqual([]);
      expect(runOf(lived).end).toEqual(runOf(calm).end);
    };
    const blows = (after: number): Blow[] => [
      { kind: "daemon", after },
      { kind: "power", after, keep: "nothing" },
      taken(after),
    ];
    for (const which of [0, 1, 2]) {
      const script = (at: number) => [wish, taken(effect), ...blows(at).slice(which, which + 1)];
      expect(await atMoments(moments.slice(effect + 1), script, check)).toBeGreaterThan(0);
    }
  },
  LIMIT_MS,
);

test(
  "TS1 a terminal that is taken over starts its next generation, never the same one",
  async () => {
    const wish = { kind: "terminal" } as const;
    const calm = await teller.live([wish]);
    const check = ({ terminal }: Lived) => {
      const said = terminal?.facts.tape.includes("taken over from atlas, where its program may still run") === true;
      expect([terminal?.generation, said]).toEqual(said ? [2, true] : [1, false]);
    };
    const claimed = calm.moments.findIndex((what) => what.includes("claim.json"));
    await atMoments(calm.moments, (at) => [wish, taken(at)], check);
    const { terminal } = await teller.live([wish, taken(claimed)]);
    expect(terminal?.generation).toBe(2); // Nobody knows whether it was claimed.
  },
  LIMIT_MS,
);

test(
  "TS1 agents that are taken over: none of their processes counts as never started, and they come to the same",
  async () => {
    const calm = await teller.live([{ kind: "heed" }, ...STORY]);
    const endOf = ({ notes, agents }: Lived) => [notes, agents?.ends];
    const check = (lived: Lived) => {
      expect(endOf(lived)).toEqual(endOf(calm));
      const events = Object.values(lived.agents?.logs ?? {}).flat();
      expect(events.filter(({ data }) => JSON.stringify(data).includes('"not-started"'))).toEqual([]);
    };
    expect(await atMoments(calm.moments, (at) => [...STORY, taken(at)], check)).toBeGreaterThan(0);
  },
  LIMIT_MS,
);
