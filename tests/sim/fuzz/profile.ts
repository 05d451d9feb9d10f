// How long and how deep the generated tests look (FI-4): `ci` is small and the same every time, `nightly` is long and never the same.
import type fc from "fast-check";

export type Profile = {
  readonly name: "ci" | "default" | "nightly";
  readonly runs: number;
  readonly commands: number;
  readonly seed: number;
};

type Environment = { readonly [name: string]: string | undefined };

const CI_SEED = 20_260_101;

/** `HOLDFAST_FUZZ` names one; else it is `ci` where CI says that it is one, and the default elsewhere. */
export function profileOf(env: Environment, randomSeed: number): Profile {
  const name = env["HOLDFAST_FUZZ"] ?? (isCi(env["CI"]) ? "ci" : "default");
  if (name === "ci") return { name, runs: 50, commands: 30, seed: CI_SEED };
  if (name === "default") return { name, runs: 200, commands: 30, seed: randomSeed };
  if (name === "nightly") return { name, runs: 5000, commands: 50, seed: randomSeed };
  throw new Error(`HOLDFAST_FUZZ is ci, default or nightly, not ${JSON.stringify(name)}`);
}

function isCi(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "false" && value !== "0";
}

export const PROFILE = profileOf(process.env, (Math.random() * 2 ** 31) | 0);

/** For properties of their own: the same share of work as the fuzzer's in every profile. */
export function parameters(share: number): fc.Parameters<unknown> {
  return { numRuns: Math.max(20, Math.ceil(PROFILE.runs * share)), seed: PROFILE.seed };
}
