// The seed of a test run. All that is random in deterministic tests follows from it.
// S1. HOLDFAST_SEED is the seed if it is set: so a run can be repeated.
// S2. Else it follows from the commit: every run of one commit looks at the same cases, and the next commit at others.
//     Without a commit (an unpacked archive) it is always the same.
// S3. Longer profiles than that of the gate (docs/FUZZING.md) look at other cases each time.
type Environment = { readonly [name: string]: string | undefined };

const WITHOUT_COMMIT = 20_260_101;

/** `commit` is a hash in hexadecimal, or undefined if there is none; `random` is an arbitrary seed. */
export function seedOf(env: Environment, commit: string | undefined, random: number): number {
  const asked = env["HOLDFAST_SEED"];
  if (asked !== undefined) {
    if (/^\d{1,9}$/.test(asked)) return Number(asked); // S1
    throw new Error(`HOLDFAST_SEED is a number of at most 9 digits, not ${JSON.stringify(asked)}`);
  }
  if ((env["HOLDFAST_FUZZ"] ?? "ci") !== "ci") return random; // S3
  return commit === undefined ? WITHOUT_COMMIT : Number.parseInt(commit.slice(0, 7), 16); // S2
}
