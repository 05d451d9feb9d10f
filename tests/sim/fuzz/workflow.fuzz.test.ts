// Random workflows of every mode and kind of step, several at a time, through random crashes of the daemon and of the
// machine, also in the middle of a recovery: each run reaches the end that it would have reached undisturbed.
import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { definitions, itemLists } from "../../workflow/flows.ts";
import { unagreed } from "../../workflow/unagreed.ts";
import { type Blow, idOf, type LivedRun, type RunWish } from "../holdfast/script.ts";
import { Teller } from "../holdfast/teller.ts";
import { FAILURES } from "./failures.ts";
import { type Fuzzed, fuzz } from "./fuzzer.ts";
import { amount, PROFILE } from "./profile.ts";

type Step = Omit<RunWish, "id"> | Blow;

/** An attempt is about fifty moments: so some blows come within a recovery, and some a few steps later. */
const after = fc.integer({ min: 0, max: 120 });
const STEPS: readonly fc.Arbitrary<Step>[] = [
  fc.record({ kind: fc.constant("run"), definition: definitions, items: itemLists }),
  fc.record({ kind: fc.constant("run"), definition: definitions, items: itemLists }),
  fc.record({ kind: fc.constant("daemon"), after }),
  fc.record({ kind: fc.constant("power"), after, keep: fc.nat(1000) }),
  fc.record({ kind: fc.constant("interrupt"), after }),
];

const teller = new Teller("sweep-main.ts");
afterAll(() => teller.close());

/** A script of these steps, without those before its first run. */
class Workflows implements Fuzzed<Step> {
  readonly #wishes: RunWish[] = [];
  readonly #script: (RunWish | Blow)[] = [];

  async step(step: Step): Promise<void> {
    if (step.kind !== "run") return void (this.#wishes.length > 0 && this.#script.push(step));
    const wish = { ...step, id: idOf(this.#wishes.length + 1) };
    this.#wishes.push(wish);
    this.#script.push(wish);
  }

  async finish(): Promise<void> {
    const calm = await teller.live(this.#wishes);
    const disturbed = await teller.live(this.#script);
    for (const { id } of this.#wishes) this.#compare(calm.runs[id], disturbed.runs[id]);
  }

  #compare(calm: LivedRun | undefined, disturbed: LivedRun | undefined): void {
    if (calm === undefined || disturbed === undefined) throw new Error("a run is missing");
    expect(this.#endOf(disturbed)).toEqual(this.#endOf(calm));
    if (this.#has("interrupt")) return; // Resuming a step agrees that it begins anew, with its first try.
    expect(unagreed(disturbed)).toEqual([]);
    const marks = marksOf(disturbed);
    expect(this.#has("power") ? [...new Set(marks)] : marks).toEqual(marksOf(calm));
  }

  #has(kind: Blow["kind"]): boolean {
    return this.#script.some((step) => step.kind === kind);
  }

  /** What an interrupted step of `on_failure` did is recorded twice; the rest is the same. */
  #endOf({ end }: LivedRun): object {
    const { steps, ...rest } = end;
    return this.#has("interrupt") ? rest : { ...rest, steps };
  }
}

function marksOf({ marks }: LivedRun): string[] {
  return marks.map(({ mark }) => mark).toSorted();
}

test("UC-8(b,d) FI-4(b) random workflows through random crashes: each effect exactly once, or with consent again, and the same end", async () => {
  // A run here is some hundred times the work of one of the log's.
  const profile = { ...PROFILE, runs: Math.ceil(PROFILE.runs * amount(0.15, 0.3)), commands: 6 };
  const start = async () => new Workflows();
  await fuzz<Step>({ name: "workflow", directory: FAILURES, steps: STEPS, start }, profile);
  expect(profile.runs).toBeGreaterThan(0);
}, 3_600_000);
