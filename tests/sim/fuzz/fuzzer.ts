// Runs generated steps against a system, shrinks and saves failures, and starts with earlier ones (FI-4).
import fc from "fast-check";
import { type Failure, forgetFailure, savedFailures, saveFailure } from "./failures.ts";
import type { Profile } from "./profile.ts";

export interface Fuzzed<S> {
  step(step: S): Promise<void>;
  finish(): Promise<void>;
}

export type Plan<S> = {
  readonly name: string;
  /** Where failures are kept. */
  readonly directory: string;
  readonly steps: readonly fc.Arbitrary<S>[];
  readonly start: () => Promise<Fuzzed<S>>;
};

export class Found extends Error {
  override readonly name = "Found";
}

type Nothing = Record<string, never>;

/** A step as fast-check wants it: it prints itself, so that a counterexample can be read. */
class StepCommand<S> implements fc.AsyncCommand<Nothing, Fuzzed<S>> {
  private readonly step: S;
  private readonly done: S[];

  constructor(step: S, done: S[]) {
    this.step = step;
    this.done = done;
  }

  check(): boolean {
    return true;
  }

  async run(_model: Nothing, system: Fuzzed<S>): Promise<void> {
    this.done.push(this.step);
    await system.step(this.step);
  }

  toString(): string {
    return JSON.stringify(this.step);
  }
}

/** Old failures first; then as many new runs as the profile says. Throws `Found` with the smallest steps that fail. */
export async function fuzz<S>(plan: Plan<S>, profile: Profile): Promise<void> {
  await replaySaved(plan);
  const done: S[] = [];
  let smallest: S[] = [];
  const commands = fc.commands(
    plan.steps.map((step) => step.map((one) => new StepCommand(one, done))),
    { maxCommands: profile.commands, size: "max" },
  );
  const property = fc.asyncProperty(commands, async (generated) => {
    done.length = 0;
    const system = await plan.start();
    try {
      await fc.asyncModelRun(() => ({ model: {}, real: system }), generated);
      await system.finish();
    } catch (error) {
      smallest = done.slice(); // While it shrinks, the last that failed is the smallest so far.
      throw error;
    }
  });
  const details = await fc.check(property, { numRuns: profile.runs, seed: profile.seed });
  if (!details.failed) return;
  const { seed, counterexamplePath: path, errorInstance } = details;
  report(plan, { seed, path: path ?? "", error: String(errorInstance), steps: smallest }, errorInstance);
}

function report<S>({ name, directory }: Plan<S>, failure: Failure<S>, cause: unknown): never {
  const file = saveFailure(directory, name, failure);
  const steps = failure.steps.map((step) => `  ${JSON.stringify(step)}`).join("\n");
  const where = `seed ${failure.seed}, path ${failure.path}, saved as ${file}`;
  throw new Found(`${failure.error}\nafter these steps (${where}):\n${steps}`, { cause });
}

async function replaySaved<S>(plan: Plan<S>): Promise<void> {
  for (const failure of savedFailures<S>(plan.directory, plan.name)) {
    try {
      await replay(plan, failure.steps);
    } catch (error) {
      throw new Found(`it still fails: ${failure.file}: ${String(error)}`, { cause: error });
    }
    forgetFailure(failure);
    console.log(`no longer fails, forgotten: ${failure.file}`);
  }
}

export async function replay<S>({ start }: Plan<S>, steps: readonly S[]): Promise<void> {
  const system = await start();
  for (const step of steps) await system.step(step);
  await system.finish();
}
