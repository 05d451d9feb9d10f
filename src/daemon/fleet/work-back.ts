// In a home that was taken over: makes worktrees and clones of agents again, from what the other host has shipped
// (core/agent/carried-work.ts). An agent without its own waits for a person (V6 of daemon/agent/recovery.ts).
// WB1. Only if nothing is at its place, and its repository is on this host, at the same path.
// WB2. It has its name when it is whole: a crash in the middle leaves it missing, and the next recovery makes it.
import type { Agent } from "../../core/agent/agent.ts";
import { cloneBackWords, worktreeBackWords } from "../../core/agent/carried-work.ts";
import { carriedPath, workKey } from "../../home/outside-files.ts";
import { isDone, type RunWorld, run, wordsOf } from "../../home/run-program.ts";
import type { Disk } from "../../world/disk.ts";

export type WorkBackPorts = RunWorld & { readonly disk: Disk; readonly home: string };

/** Returns why it is not there; undefined if it is. */
export async function workBack(
  ports: WorkBackPorts,
  session: string,
  { id, plan }: Agent,
): Promise<string | undefined> {
  const { disk, home, self } = ports;
  const { worktree = null, clone } = plan.workspace ?? {};
  const own = worktree ?? clone;
  if (own === undefined || disk.lstat(own.path) !== undefined) return undefined; // WB1
  if (disk.stat(`${own.repository}/.git`) === undefined) return `its repository ${own.repository} is not on this host`;
  const bundle = carriedPath(home, workKey(session));
  if (disk.stat(bundle)?.kind !== "file") return "it was not shipped in time";
  const words =
    clone !== undefined && worktree === null
      ? cloneBackWords(clone, plan.cwd.slice(clone.path.length), bundle)
      : worktreeBackWords({ ...own }, bundle, id);
  const { HOME = "/" } = self.environment();
  const said = await run(ports, words, { HOME });
  return isDone(said) ? undefined : `${wordsOf(said)} (git fetch in ${own.repository} may help)`;
}
