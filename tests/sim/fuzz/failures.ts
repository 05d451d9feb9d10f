// Failures of the fuzzer outlive the run (FI-4): each is saved with its seed, its path and its steps, and the next run
// begins with it.
// A saved failure is replayed from its steps, so it stays good when generators, seeds or fast-check change.
import { mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../scripts/files.ts";

export const FAILURES = join(ROOT, ".fuzz");

export type Failure<S> = {
  readonly seed: number;
  readonly path: string;
  readonly error: string;
  readonly steps: readonly S[];
};
export type SavedFailure<S> = Failure<S> & { readonly file: string };

/** Where it was saved. The same steps are saved once. */
export function saveFailure<S>(directory: string, name: string, failure: Failure<S>): string {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${name}-${Bun.hash(JSON.stringify(failure.steps)).toString(16)}.json`);
  writeFileSync(file, toText(failure));
  return file;
}

/** One step a line, for people. */
function toText<S>({ steps, ...facts }: Failure<S>): string {
  const lines = steps.map((step) => `    ${JSON.stringify(step)}`).join(",\n");
  return `${JSON.stringify(facts, undefined, 2).slice(0, -2)},\n  "steps": [\n${lines}\n  ]\n}\n`;
}

export function savedFailures<S>(directory: string, name: string): SavedFailure<S>[] {
  mkdirSync(directory, { recursive: true });
  const names = readdirSync(directory).filter((file) => file.startsWith(`${name}-`) && file.endsWith(".json"));
  return names.sort().map((one) => {
    const file = join(directory, one);
    const failure: Failure<S> = JSON.parse(readFileSync(file, "utf8"));
    return { ...failure, file };
  });
}

export function forgetFailure({ file }: { readonly file: string }): void {
  unlinkSync(file);
}
