// How Bun is started so that it runs our program and nothing else.
// BN1. Nothing in the current directory, or in a directory above the program, has a part in it: not the preload of a
//      `bunfig.toml`, not an `.env`, not the `paths` of a `tsconfig.json`, by which Bun would resolve our own imports.
// BN2. Variables that add options or a preload to every Bun are passed to no child: they were meant for another one.

/** BN1. The launcher (./holdfast) and the tests have the same. */
export const BUN_FLAGS: readonly string[] = [
  "--config=/dev/null",
  "--no-env-file",
  "--tsconfig-override=/dev/null",
  "--no-install",
];

/** Our single binary (scripts/binary.ts) has its programs at paths below this one, which no disk has. */
export const INSIDE = "/$bunfs/";

/** What comes before `entry`. A program inside our binary needs none: the build has seen to BN1. */
export function flagsFor(entry: string): readonly string[] {
  return entry.startsWith(INSIDE) ? [] : BUN_FLAGS;
}

/** BN2. In our binary the runtime does not know them. */
export const BUN_VARIABLES: readonly string[] = [
  ...["BUN_OPTIONS", "BUN_BE_BUN", "BUN_INSPECT", "BUN_INSPECT_PRELOAD", "BUN_INSPECT_CONNECT_TO"],
];

/** BN2 */
export function withoutBunVariables(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !BUN_VARIABLES.includes(name)));
}
