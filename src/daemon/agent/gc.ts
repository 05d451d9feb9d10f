// What could be thrown away of agents: all of one that is over for good, its log too.
// GA1. Over for good is an agent that was terminated, and below which everybody was (core/agent/gone.ts). One that is idle, asleep,
//      suspended or crashed can go on, and is not touched, whatever its age; nor is a worktree, which holds somebody's work.
// GA2. Only what is ours by its name is named; a directory in which somebody keeps something of their own stays. The log comes last: as
//      long as anything is left, the agent is found again by it.

import { joinPath } from "../../base/path.ts";
import type { Agent } from "../../core/agent/agent.ts";
import { overForGood } from "../../core/agent/gone.ts";
import { beyond, daysMs, type Thing } from "../../core/retention.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import { AGENTS, RUN } from "../../home/layout.ts";
import { EVENTS_FILE } from "../../log/session/places.ts";
import type { Disk } from "../../world/disk.ts";
import { type Forget, type Garbage, sized, timeOf } from "../gc.ts";
import type { Retention } from "../part.ts";
import { agentDirectory } from "./process-files.ts";

/** What is beside the log, with what a write that was broken off leaves. */
const RECORD = /^(?:session\.json|token|checkpoint(?:\.backup)?\.json)(?:\..+)?$/;

export type AgentGarbage = { agents(): Iterable<Agent>; readonly forget: Forget };

export function agentGarbage(place: HomeWorld, { agents, forget }: AgentGarbage, rules: Retention): Garbage[] {
  const { disk, clock } = place;
  const all = [...agents()];
  const limits = { ageMs: daysMs(rules.agentDays), bytes: rules.agentBytes };
  const things = endedAgents(place, overForGood(all)).map(({ id, ...thing }) => ({
    ...thing,
    session: { id, forget },
  }));
  const empty = emptyDirectories(place, all).map((path) => {
    const thing = sized(disk, "directory of an agent that was removed", [path]);
    return { ...thing, at: undefined, reason: "nothing is in it" };
  });
  return [...beyond(things, limits, clock.now()), ...empty];
}

/** One thing for each. */
function endedAgents({ disk, home }: HomeWorld, over: readonly Agent[]): (Thing & { readonly id: string })[] {
  const sockets = disk.list(joinPath(home, RUN));
  return over.map(({ id, terminated }) => {
    const directory = agentDirectory(home, id);
    const names = disk.list(directory);
    const records = names.filter((name) => RECORD.test(name)).map((name) => joinPath(directory, name));
    const left = sockets.filter((name) => name.startsWith(`a${id.slice(0, 12)}-`));
    const paths = [
      ...left.map((name) => joinPath(home, `${RUN}/${name}`)),
      ...processFiles(disk, joinPath(directory, "processes")),
      ...records,
      joinPath(directory, EVENTS_FILE), // GA2. It may come only now, from the write-ahead log.
      directory,
    ];
    return { ...sized(disk, "an agent that was terminated", paths), id, at: timeOf(terminated?.at ?? "") };
  });
}

/** Each process has a directory of its own, named by its number, with nothing in it but ours. */
function processFiles(disk: Disk, directory: string): string[] {
  if (disk.stat(directory) === undefined) return [];
  const numbers = disk.list(directory).filter((name) => /^\d+$/.test(name));
  return [...numbers.flatMap((number) => treeBelow(disk, joinPath(directory, number))), directory];
}

/** What is in it first, then itself. */
function treeBelow(disk: Disk, path: string): string[] {
  if (disk.stat(path)?.kind !== "directory") return [path];
  return [...disk.list(path).flatMap((name) => treeBelow(disk, joinPath(path, name))), path];
}

/** Of agents that were removed up to the last step: nothing is in them, and nobody is theirs. */
function emptyDirectories({ disk, home }: HomeWorld, agents: readonly { readonly id: string }[]): string[] {
  const known = new Set(agents.map(({ id }) => id));
  const ids = disk.list(joinPath(home, AGENTS)).filter((name) => /^[0-9a-f]{32}$/.test(name) && !known.has(name));
  return ids.map((id) => agentDirectory(home, id)).filter((path) => disk.list(path).length === 0);
}
