// Random workflows of every mode and kind of step, several at a time, through random crashes of the daemon and of the
// machine, also in the middle of a recovery: each run reaches the end that it would have reached undisturbed.
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Definition } from "../../../src/core/workflow/definition.ts";
import { definitions, itemLists } from "../../workflow/flows.ts";
import { actedTwice, type Driven, endOf, Simulation, simulate, unagreed } from "../../workflow/sim-drive.ts";
import { SimRandom } from "../random.ts";
import { randomSurvivor } from "../survive.ts";
import { FAILURES } from "./failures.ts";
import { type Fuzzed, fuzz } from "./fuzzer.ts";
import { PROFILE } from "./profile.ts";

/** `after`: so many calls of the disk, starts and effects from then on. */
type Step =
  | { readonly kind: "run"; readonly definition: Definition; readonly items: readonly number[] }
  | { readonly kind: "daemon dies"; readonly after: number }
  | { readonly kind: "machine goes down"; readonly after: number; readonly seed: number }
  | { readonly kind: "interrupted"; readonly after: number };

/** An attempt is about fifty of them: so some crashes come within a recovery, and some a few steps later. */
const after = fc.integer({ min: 0, max: 120 });
const run: fc.Arbitrary<Step> = fc
  .record({ definition: definitions, items: itemLists })
  .map((of) => ({ kind: "run", ...of }));
const daemonDies: fc.Arbitrary<Step> = after.map((moments) => ({ kind: "daemon dies", after: moments }));
const machineGoesDown: fc.Arbitrary<Step> = fc
  .record({ after, seed: fc.nat(1000) })
  .map((of) => ({ kind: "machine goes down", ...of }));

const interrupted: fc.Arbitrary<Step> = after.map((moments) => ({ kind: "interrupted", after: moments }));

/** A simulated machine with all the runs that were asked for. */
class Workflows implements Fuzzed<Step> {
  readonly #simulation = new Simulation();
  readonly #asked: (Step & { readonly kind: "run" })[] = [];
  /** Whether restarting steps was agreed to. */
  #agreed = false;
  #interrupted = false;

  async step(step: Step): Promise<void> {
    if (step.kind === "run") {
      this.#asked.push(step);
      this.#simulation.begin(`r${this.#asked.length}`, step.definition, step.items);
      return;
    }
    if (this.#asked.length === 0) return;
    const at = this.#simulation.moments.length + step.after;
    this.#interrupted ||= step.kind === "interrupted";
    if (step.kind === "interrupted") return this.#simulation.interrupt(at);
    const down = step.kind === "machine goes down" ? randomSurvivor(new SimRandom(step.seed)) : undefined;
    this.#agreed ||= down !== undefined;
    await this.#simulation.crash({ at, ...(down !== undefined && { machine: down }) });
  }

  async finish(): Promise<void> {
    const driven = await this.#simulation.finish();
    for (const [at, { definition, items }] of this.#asked.entries()) {
      const calm = await simulate(definition, items, []);
      const disturbed = driven[at];
      if (disturbed === undefined) throw new Error("a run is missing");
      expect(this.#endOf(disturbed)).toEqual(this.#endOf(calm));
      expect(actedTwice(disturbed)).toEqual([]);
      if (this.#interrupted) continue; // Whoever resumes agrees that the step begins anew, with its first try.
      expect(unagreed(disturbed)).toEqual([]);
      const marks = marksOf(disturbed);
      expect(this.#agreed ? [...new Set(marks)] : marks).toEqual(marksOf(calm));
    }
  }

  /** What an interrupted step of `on_failure` did is recorded twice; the rest is the same. */
  #endOf({ run: of }: Driven): object {
    const { steps, ...rest } = endOf(of);
    return this.#interrupted ? rest : { ...rest, steps };
  }
}

/** Without the name of the run. */
function marksOf({ marks }: Driven): string[] {
  return marks.map(({ mark }) => mark.slice(mark.indexOf("/"))).toSorted();
}

test("UC-8(b,d) FI-4(b) random workflows through random crashes: each effect exactly once, or with consent again, and the same end", async () => {
  // A run here is some hundred times the work of one of the log's.
  const profile = { ...PROFILE, runs: Math.ceil(PROFILE.runs * 0.3), commands: 6 };
  const start = async () => new Workflows();
  await fuzz<Step>(
    { name: "workflow", directory: FAILURES, steps: [run, run, daemonDies, machineGoesDown, interrupted], start },
    profile,
  );
  expect(profile.runs).toBeGreaterThan(0);
}, 3_600_000);
