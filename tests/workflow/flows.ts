// Random workflows: every kind of step, retry, failure, condition and mode.
import fc from "fast-check";
import type { Definition, Flow, Step } from "../../src/core/workflow/definition.ts";

type Plain = Omit<Step, "id" | "on_failure">;
type Bare = Plain & { readonly on_failure?: readonly Plain[] };

const word = fc.constantFrom("ok", "ok", "ok", "fail-1", "fail-2", "fail");
const shell = fc.record({ word, value: fc.constantFrom("x", "y", "iteration") }).map(({ word: how, value }) => ({
  kind: "shell" as const,
  command: `work ${how} \${default(${value}, 0)}`,
}));
const set = fc.constantFrom("x", "y").map((name) => ({
  kind: "set" as const,
  values: { [name]: "${default(x, 0)}-${default(y, 1)}" },
}));
const agent = fc.record({ word, value: fc.constantFrom("x", "y") }).map(({ word: how, value }) => ({
  kind: "agent" as const,
  provider: "scripted",
  prompt: `think of \${default(${value}, 0)}`,
  command: ["think", `work ${how}`],
}));
/** This provider does not exist: the step fails before it begins. */
const nobody = fc.constant({ kind: "agent" as const, provider: "nobody", prompt: "hello" });
const retry = fc.record({
  attempts: fc.integer({ min: 1, max: 4 }),
  backoff_ms: fc.constant(10),
  max_backoff_ms: fc.constant(25),
});

const plain: fc.Arbitrary<Plain> = fc
  .record(
    {
      work: fc.oneof(
        { weight: 8, arbitrary: shell },
        { weight: 3, arbitrary: set },
        { weight: 3, arbitrary: agent },
        { weight: 1, arbitrary: nobody },
      ),
      when: fc.constantFrom("true", "default(x, 0) != 'never'", "iteration > 1"),
      retry,
      capture: fc.constantFrom({ x: "stdout" }, { y: "stdout" }, { x: "exit_code" }),
      continue_on_error: fc.boolean(),
      idempotent: fc.boolean(),
      on_uncertain: fc.constantFrom("ask" as const, "rerun" as const),
    },
    { requiredKeys: ["work"] },
  )
  .map(({ capture, retry: again, idempotent, on_uncertain, ...step }) =>
    step.work.kind === "set" ? step : { ...step, ...present({ capture, retry: again, idempotent, on_uncertain }) },
  );

function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> };
function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const step: fc.Arbitrary<Bare> = fc
  .record({ step: plain, on_failure: fc.option(fc.array(plain, { maxLength: 2 }), { nil: undefined }) })
  .map(({ step: of, on_failure }) => (on_failure === undefined ? of : { ...of, on_failure }));

const steps = fc.array(step, { minLength: 1, maxLength: 5 });

/** Ids are assigned in the order of the file. */
function named(prefix: string, bare: readonly Bare[]): Step[] {
  return bare.map(({ on_failure, ...rest }, at) => {
    const id = `${prefix}${at + 1}`;
    if (on_failure === undefined) return { id, ...rest };
    return { id, ...rest, on_failure: on_failure.map((inner, n) => ({ id: `${id}_h${n + 1}`, ...inner })) };
  });
}

const standard = steps.map((of): Flow => ({ mode: "standard", steps: named("s", of) }));
const iterative = fc
  .record({
    of: steps,
    most: fc.integer({ min: 1, max: 3 }),
    until: fc.constantFrom("iteration >= 2", "default(x, '') == 'no'"),
  })
  .map(({ of, most, until }): Flow => ({ mode: "iterative", steps: named("i", of), max_iterations: most, until }));
const mapreduce = fc
  .record({
    setup: fc.array(step, { maxLength: 2 }),
    map: steps,
    reduce: fc.array(step, { maxLength: 2 }),
    parallel: fc.integer({ min: 1, max: 4 }),
    listed: fc.boolean(),
  })
  .map(
    ({ setup, map, reduce, parallel, listed }): Flow => ({
      mode: "mapreduce",
      setup: named("a", setup),
      map: {
        input: listed ? { kind: "command", command: "work ok" } : { kind: "file", path: "items.json" },
        max_parallel: parallel,
        steps: named("m", map),
      },
      reduce: named("z", [
        ...reduce,
        { work: { kind: "set", values: { all: "${map.results}", good: "${map.successful}", bad: "${map.failed}" } } },
      ]),
    }),
  );

/** What no step may have set. */
const parameters = { x: { type: "string" }, y: { type: "string" } } as const;

export const definitions: fc.Arbitrary<Definition> = fc
  .oneof(standard, iterative, mapreduce)
  .map((flow) => ({ name: "random", parameters, flow }));

export const itemLists = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 7 });
