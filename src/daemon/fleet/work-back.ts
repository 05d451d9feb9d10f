// In a home that was taken over: makes worktrees and clones of agents again, from what the other host has shipped
// (core/agent/carried-work.ts). An agent without its own waits for a person (V6 of daemon/agent/recovery.ts).
// WB1. Only if nothing is at its place, and its repository is on this host, at the same path.
// WB2. It has its name when it is whole: a crash in the middle leaves it missing, and the next recovery makes it.
// WB3. If another state of it is at its place, such as the one from before a move that was moved back, nothing is
//      changed: what was shipped is set aside, and the agent waits.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { Agent } from "../../core/agent/agent.ts";
import {
  cloneBackWords,
  knownCommits,
  knownWords,
  makeWords,
  sameWords,
  worktreeBackWords,
} from "../../core/agent/carried-work.ts";
import { FLEET_WORKS } from "../../home/layout.ts";
import { carriedPath, workKey } from "../../home/outside-files.ts";
import { isDone, type RunWorld, run, wordsOf } from "../../home/run-program.ts";
import { makeDirectories, readWhole } from "../../log/file/file.ts";
import { quarantine } from "../../log/file/quarantine.ts";
import type { Disk } from "../../world/disk.ts";

export type WorkBackPorts = RunWorld & { readonly disk: Disk; readonly home: string; readonly maxBytes: number };

/** `isOther`: what is at its place is not what the other host had (WB3). */
export type WorkBack =
  | { readonly kind: "there" }
  | { readonly kind: "missing"; readonly why: string; readonly isOther: boolean };

/** Never fails: what cannot be done is said. */
export async function workBack(ports: WorkBackPorts, session: string, agent: Agent): Promise<WorkBack> {
  const { worktree = null, clone } = agent.plan.workspace ?? {};
  const own = worktree ?? clone;
  if (own === undefined) return { kind: "there" };
  const isThere = ports.disk.lstat(own.path) !== undefined;
  try {
    const why = isThere ? await compared(ports, session, agent) : await putBack(ports, session, agent);
    return why === undefined ? { kind: "there" } : { kind: "missing", why, isOther: isThere };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { kind: "missing", why: error.message, isOther: isThere };
  }
}

/** Returns why it is not there; undefined if it is. */
async function putBack(ports: WorkBackPorts, session: string, { id, plan }: Agent): Promise<string | undefined> {
  const { disk, home } = ports;
  const { worktree = null, clone } = plan.workspace ?? {};
  const own = worktree ?? clone;
  if (own === undefined) return undefined;
  if (disk.stat(`${own.repository}/.git`) === undefined) return `its repository ${own.repository} is not on this host`;
  const bundle = carriedPath(home, workKey(session));
  if (disk.stat(bundle)?.kind !== "file") return "it was not shipped in time";
  const words =
    clone !== undefined && worktree === null
      ? cloneBackWords(clone, plan.cwd.slice(clone.path.length), bundle)
      : worktreeBackWords({ ...own }, bundle, id);
  const said = await run(ports, words, envOf(ports));
  return isDone(said) ? undefined : `${wordsOf(said)} (git fetch in ${own.repository} may help)`;
}

/** WB3. Returns undefined if what is there is what the other host had. */
async function compared(ports: WorkBackPorts, session: string, { id, plan }: Agent): Promise<string | undefined> {
  const { disk, home, maxBytes, clock } = ports;
  const { worktree = null, clone } = plan.workspace ?? {};
  const own = worktree ?? clone;
  const bundle = carriedPath(home, workKey(session));
  const bytes = readWhole(disk, bundle);
  if (own === undefined || bytes === undefined) return undefined;
  const directory = joinPath(home, `${FLEET_WORKS}/${id}`);
  makeDirectories(disk, directory);
  const env = envOf(ports);
  const known = await run(ports, knownWords(own.repository), env);
  const to = { directory, maxBytes, ignored: joinPath(env.HOME, ".config/git/ignore") };
  const make = makeWords({ path: own.path, isClone: worktree === null }, to);
  await run(ports, make, env, `${knownCommits(isDone(known) ? known.out : "")}\n`);
  if (isDone(await run(ports, sameWords(directory, bundle), env))) return undefined;
  const reason = `${own.path} is there in another state`;
  const damage = { name: "work", from: own.path, offset: 0, reason, at: clock.now() };
  return `${reason}; what was shipped is in ${await quarantine(disk, home, damage, bytes)}, a bundle of git`;
}

function envOf({ self }: WorkBackPorts): { readonly HOME: string } {
  return { HOME: self.environment()["HOME"] ?? "/" };
}
