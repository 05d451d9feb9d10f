// An installation of ours whose workflows commit each in-process step by itself, to be measured beside peers that
// always do. It is this one with a single number changed: how many steps in a row one transaction may hold. Nothing in
// `src/` has a switch for it.
// E1. If the source no longer has that number exactly once, the benchmark fails: it would measure the usual batches.
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildPrograms } from "../scripts/build.ts";
import { ROOT } from "../scripts/files.ts";
import { type Bench, makePlace } from "./scratch.ts";

const LIMITS = "src/core/workflow/limits.ts";
const USUAL = /^export const IN_PROCESS_A_TURN = \d+;$/gm;
/** Longer than a step of the file system's clock: a source written when a build begins counts as changed by it. */
const STEP_MS = 50;
const PARTS = ["src", "scripts", "holdfast", "package.json", "package-lock.json", "tsconfig.json"];

/** Returns its root, below the run's directory. */
export async function oneStepACommit(bench: Bench): Promise<string> {
  const root = makePlace(bench, "one-a-commit");
  // With their times: a lock file that is newer than the packages would make the launcher install them again.
  for (const part of PARTS) cpSync(join(ROOT, part), join(root, part), { recursive: true, preserveTimestamps: true });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  writeFileSync(join(root, LIMITS), withOneAStep(readFileSync(join(ROOT, LIMITS), "utf8")));
  await Bun.sleep(STEP_MS);
  await buildPrograms(root);
  return root;
}

/** The limits with one step in a transaction (E1). */
export function withOneAStep(limits: string): string {
  if (limits.match(USUAL)?.length !== 1) throw new Error(`${LIMITS} does not say once how many steps share a commit`);
  return limits.replace(USUAL, "export const IN_PROCESS_A_TURN = 1;");
}
