// What a mutant is: one mistake in the product's sources that an ordinary test of the suite must notice. A deliberate
// bug (tests/bugs) proves a check that was written for it; a mutant proves the suite itself.
// MU1. Its change replaces a text that occurs exactly once in its file (B1 of tests/bugs/bugs.ts).
// MU2. Every room of src/ has at least three.
// MU3. The gate runs the sentinels, the proof all. Sentinels guard what cannot be taken back: an acknowledgement before
//      it is durable, a program started twice, a secret or a door left open. Each takes well under a second.
import type { Change } from "../bugs/bugs.ts";

/** `test`: its groups and its name, as scripts/junit.ts names it. */
export type Killer = {
  readonly file: string;
  readonly test: string;
  /** What its failure says, if it reports a broken promise in another way than by `expect`. */
  readonly says?: RegExp;
};

/** `mutant`: what is broken, in plain words. */
export type Mutant = Change & {
  readonly mutant: string;
  readonly killedBy: Killer;
  readonly isSentinel?: true;
};

/** The room of a path below src/. */
export function roomOf(path: string): string {
  return path.split("/")[1] ?? "";
}
