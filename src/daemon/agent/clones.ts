// The clone of a sandboxed agent that is over for good, for garbage collection (CL6 of core/agent/clone.ts).
// CG1. It is removed only if everything in it is committed, and the repository has every commit that the agent made.
//      What cannot be looked at stays.
// CG2. Before it is removed it gets another name, durably: half of it is never taken for all of it.
import { parentOf } from "../../base/path.ts";
import type { Agent } from "../../core/agent/agent.ts";
import {
  type Clone,
  type CloneFacts,
  cloneFacts,
  HALF_MADE,
  HALF_REMOVED,
  lookWords,
  missingIn,
  ownedWords,
  REMOVE,
} from "../../core/agent/clone.ts";
import { isDone, run, wordsOf } from "../../home/run-program.ts";
import type { Work } from "../gc.ts";
import type { DaemonWorld } from "../ports.ts";

export type CloneWorld = Pick<DaemonWorld, "disk" | "clock" | "children"> & {
  readonly self: Pick<DaemonWorld["self"], "environment">;
};

const KILOBYTE = 1024;

/** Undefined if there is none. */
export function cloneOf(world: CloneWorld, { id, plan }: Agent): Work | undefined {
  const clone = plan.workspace?.clone;
  if (clone === undefined) return undefined;
  const there = [clone.path, clone.path + HALF_MADE, clone.path + HALF_REMOVED].filter((path) =>
    world.disk.lstat(path),
  );
  if (there.length === 0) return undefined;
  return { what: "its clone", look: () => look(world, clone, id), remove: () => remove(world, clone) };
}

/** CG1 */
async function look(world: CloneWorld, clone: Clone, id: string): ReturnType<Work["look"]> {
  if (world.disk.lstat(clone.path) === undefined) return { bytes: 0 };
  const found = await factsOf(world, clone);
  const why = typeof found === "string" ? found : await whyKept(world, clone, found);
  if (why === undefined && typeof found !== "string") return { bytes: found.kilobytes * KILOBYTE };
  return {
    kept: [
      `the clone ${clone.path} ${why}. holdfast agent fetch ${id} brings the commits of its branch;`,
      `rm -rf ${clone.path} drops all of it.`,
    ].join(" "),
  };
}

async function factsOf(world: CloneWorld, clone: Clone): Promise<CloneFacts | string> {
  const said = await run(world, lookWords(clone.path), {});
  const facts = isDone(said) ? cloneFacts(said.out) : undefined;
  return facts ?? `cannot be inspected: ${wordsOf(said)}`;
}

async function whyKept(world: CloneWorld, clone: Clone, facts: CloneFacts): Promise<string | undefined> {
  if (facts.isChanged) return "has changes that are not committed";
  if (facts.commits.length === 0) return undefined;
  const { HOME = "/" } = world.self.environment();
  const said = await run(world, ownedWords(clone), { HOME, GIT_NO_LAZY_FETCH: "1" }, facts.commits.join("\n"));
  if (!isDone(said)) return `cannot be compared with ${clone.repository}: ${wordsOf(said)}`;
  const missing = missingIn(said.out, facts.commits);
  if (missing === 0) return undefined;
  return `has ${missing} ${missing === 1 ? "commit" : "commits"} that ${clone.repository} does not have`;
}

/** CG2. Returns why it could not be removed. */
async function remove(world: CloneWorld, { path }: Clone): Promise<string | undefined> {
  const { disk } = world;
  const leftovers = [path + HALF_MADE, path + HALF_REMOVED];
  const before = await run(world, [...REMOVE, ...leftovers], {});
  if (!isDone(before)) return `${path}: ${wordsOf(before)}`;
  if (disk.lstat(path) === undefined) return undefined;
  disk.rename(path, path + HALF_REMOVED);
  await disk.syncDirectory(parentOf(path));
  const said = await run(world, [...REMOVE, path + HALF_REMOVED], {});
  return isDone(said) ? undefined : `${path}: ${wordsOf(said)}`;
}
