// Random workflows through random crashes, in a world where a crash can happen at every boundary.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { cells, unreachable } from "../../src/base/machine.ts";
import { toRecord } from "../../src/base/table.ts";
import { itemsOf } from "../../src/base/vector.ts";
import { applyWorkflow } from "../../src/core/workflow/apply.ts";
import type { Definition, Step } from "../../src/core/workflow/definition.ts";
import { runMachine } from "../../src/core/workflow/machine.ts";
import { type Run, stateOf } from "../../src/core/workflow/run.ts";
import { PROFILE } from "../sim/fuzz/profile.ts";
import { SimRandom } from "../sim/random.ts";
import { drive, type Trouble } from "./drive.ts";
import { definitions, itemLists } from "./flows.ts";
import { SAMPLES } from "./samples.ts";

const RUNS = 200;
/** Seconds on a quiet machine; it may be busy. */
const MINUTE = 60_000;

function quiet(seed: number): Trouble {
  const random = new SimRandom(seed);
  return { chance: () => random.fraction(), daemon: 0, machine: 0, checkpoints: 0 };
}

function outcomeOf({ home, daemon }: ReturnType<typeof drive>) {
  const { run } = daemon;
  const items = [...itemsOf(run.items.all)].map(({ state }) => [
    state.kind,
    state.kind === "succeeded" ? state.result : "",
  ]);
  const steps = [...itemsOf(run.records)].map(({ step, outcome, iteration }) => `${step} ${iteration} ${outcome}`);
  return { state: stateOf(run), variables: toRecord(run.variables), items, steps, marks: [...home.marks].sort() };
}

test(
  "UC-8(b,d) a daemon that dies at random moments: each step acts exactly once and the run ends as if nothing had happened",
  () => {
    fc.assert(
      fc.property(definitions, itemLists, fc.nat(), (definition, items, seed) => {
        const undisturbed = outcomeOf(drive(definition, items, quiet(seed)));
        const trouble = { ...quiet(seed), daemon: 0.08, checkpoints: 0.1 };
        const disturbed = outcomeOf(drive(definition, items, trouble));
        expect(disturbed).toEqual(undisturbed);
        expect(new Set(disturbed.marks).size).toBe(disturbed.marks.length);
      }),
      { numRuns: RUNS, seed: PROFILE.seed },
    );
  },
  MINUTE,
);

test(
  "UC-8(b,d) a machine that dies at random moments: no step acts twice unless a person or the file agreed",
  () => {
    fc.assert(
      fc.property(definitions, itemLists, fc.nat(), fc.boolean(), (definition, items, seed, idempotent) => {
        const flow = idempotent ? marked(definition) : definition;
        const { home } = drive(flow, items, { ...quiet(seed), daemon: 0.1, machine: 0.5, checkpoints: 0.1 });
        const twice = new Map<string, number>();
        for (const mark of home.marks) twice.set(mark, (twice.get(mark) ?? 0) + 1);
        for (const [mark, times] of twice) {
          const agreed = home.consents.filter((one) => one === mark).length;
          expect({ mark, times: times <= 1 + agreed }).toEqual({ mark, times: true });
        }
      }),
      { numRuns: RUNS, seed: PROFILE.seed },
    );
  },
  MINUTE,
);

test(
  "a run that is interrupted again and again, and resumed each time, reaches the same end",
  () => {
    fc.assert(
      fc.property(definitions, itemLists, fc.nat(), (definition, items, seed) => {
        const { steps: _steps, marks: _marks, ...undisturbed } = outcomeOf(drive(definition, items, quiet(seed)));
        const trouble = { ...quiet(seed), daemon: 0.05, checkpoints: 0.1, interrupts: 0.1 };
        const { steps: _more, marks: _others, ...disturbed } = outcomeOf(drive(definition, items, trouble));
        expect(disturbed).toEqual(undisturbed);
      }),
      { numRuns: RUNS, seed: PROFILE.seed },
    );
  },
  MINUTE,
);

test("the status of a run changes only as the table says", () => {
  const legal = new Set(
    cells(runMachine).flatMap(({ state, next }) => (next === undefined ? [] : [`${state} ${next}`])),
  );
  expect(unreachable(runMachine)).toEqual([]);
  fc.assert(
    fc.property(definitions, itemLists, fc.nat(), (definition, items, seed) => {
      const { home } = drive(definition, items, { ...quiet(seed), daemon: 0.05, interrupts: 0.1 });
      let run: Run | undefined;
      for (const { session_id: id, event, data } of home.log.flatMap((line) => JSON.parse(line))) {
        const before: string | undefined = run?.status.kind;
        run = applyWorkflow(run, { id, event, data });
        if (before !== undefined && before !== run.status.kind) expect(legal).toContain(`${before} ${run.status.kind}`);
      }
    }),
    { numRuns: 50, seed: PROFILE.seed },
  );
});

/** The same workflow with every second step idempotent. */
function marked(definition: Definition): Definition {
  const { flow } = definition;
  const mark = (steps: readonly Step[]) =>
    steps.map((step, at) => (at % 2 === 0 ? { ...step, idempotent: true } : step));
  if (flow.mode !== "mapreduce") return { ...definition, flow: { ...flow, steps: mark(flow.steps) } };
  return { ...definition, flow: { ...flow, map: { ...flow.map, steps: mark(flow.map.steps) } } };
}

/** A daemon that dies at the given boundary, and at no other. */
function once(boundary: number, machine = 0): Trouble {
  const random = new SimRandom(7);
  let passed = 0;
  let asked = 0;
  // The driver uses chance for other things as well: only a boundary compares it with `daemon`, which this makes
  // visible.
  return {
    chance: () => random.fraction(),
    get daemon() {
      asked += 1;
      if (asked <= boundary) return 0;
      passed += 1;
      return passed === 1 ? 2 : 0;
    },
    machine,
    checkpoints: 0,
  };
}

test.each(SAMPLES)("UC-8(b,c,d) a $name run is the same at whichever boundary the daemon died", (definition) => {
  const items = [1, 2, 3];
  const undisturbed = outcomeOf(drive(definition, items, quiet(7)));
  expect(undisturbed.state).toBe("done");
  let boundary = 0;
  for (; boundary < 1000; boundary += 1) {
    const driven = drive(definition, items, once(boundary));
    expect({ boundary, ...outcomeOf(driven) }).toEqual({ boundary, ...undisturbed });
    if (driven.crashes === 0) break;
  }
  expect(boundary).toBeGreaterThanOrEqual(20);
  expect(boundary).toBeLessThan(1000);
});

test.each(SAMPLES)(
  "UC-8(b,d) a $name run does nothing twice without consent, at whichever boundary the machine died",
  (definition) => {
    let consents = 0;
    for (let boundary = 0; ; boundary += 1) {
      const { home, crashes } = drive(definition, [1, 2, 3], once(boundary, 1));
      if (crashes === 0) break;
      const twice = home.marks.filter((mark, at) => home.marks.indexOf(mark) !== at);
      const without = twice.filter((mark) => !home.consents.includes(mark));
      expect({ boundary, without }).toEqual({ boundary, without: [] });
      consents += home.consents.length;
    }
    expect(consents).toBeGreaterThan(2); // Otherwise nothing was ever uncertain.
  },
);
