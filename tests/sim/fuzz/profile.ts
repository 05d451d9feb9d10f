// How long and how deep the tests look that choose their cases by chance (FI-4), and which cases those are.
// `ci` is the sample of the gate: small, and the same for one commit. `full` leaves nothing out that is counted (every
// crash point, every seed). `nightly` is long.
import type fc from "fast-check";
import { SimRandom } from "../random.ts";

export type Profile = {
  readonly name: "ci" | "full" | "nightly";
  readonly runs: number;
  readonly commands: number;
  readonly seed: number;
};

type Environment = { readonly [name: string]: string | undefined };

const FIXED_SEED = 20_260_101;

/**
 * `HOLDFAST_FUZZ` names the profile. The test command sets `HOLDFAST_SEED` (scripts/seed.ts); without it `ci` has a
 * fixed
 * seed and the others have `randomSeed`.
 */
export function profileOf(env: Environment, randomSeed: number): Profile {
  const name = env["HOLDFAST_FUZZ"] ?? "ci";
  const seed = Number(env["HOLDFAST_SEED"] ?? (name === "ci" ? FIXED_SEED : randomSeed));
  if (name === "ci") return { name, runs: 50, commands: 30, seed };
  if (name === "full") return { name, runs: 200, commands: 30, seed };
  if (name === "nightly") return { name, runs: 5000, commands: 50, seed };
  throw new Error(`HOLDFAST_FUZZ is ci, full or nightly, not ${JSON.stringify(name)}`);
}

export const PROFILE = profileOf(process.env, Math.floor(Math.random() * 1e9));

/** For properties of their own: the same share of work as the fuzzer's in every profile. */
export function parameters(share: number): fc.Parameters<unknown> {
  return { numRuns: Math.max(20, Math.ceil(PROFILE.runs * share)), seed: PROFILE.seed };
}

/** How many the gate tries, and how many `full` and `nightly` do. */
export function amount(inCi: number, inFull: number): number {
  return PROFILE.name === "ci" ? inCi : inFull;
}

/** In `ci` one in so many of them, different for each commit and each `turn`; otherwise all. */
export function sampleOf<T>(all: readonly T[], oneIn: number, turn = 0): T[] {
  const first = (PROFILE.seed + turn) % oneIn;
  return PROFILE.name === "ci" ? all.filter((_, at) => at % oneIn === first) : [...all];
}

/** In `ci` true for one commit in so many, otherwise always: for a single test that costs much. */
export function isInSample(oneIn: number, turn = 0): boolean {
  return sampleOf(["it"], oneIn, turn).length > 0;
}

/** Randomness derived from the seed of the run. Each user has its own `purpose`. */
export function seeded(purpose: number): SimRandom {
  return new SimRandom(PROFILE.seed * 1000 + purpose);
}
