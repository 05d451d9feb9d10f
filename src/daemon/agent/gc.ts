// Which files of agents garbage collection may delete: everything of an agent that is over for good, including its log.
// GA1. An agent is over for good once it and all its descendants were terminated (core/agent/gone.ts). One that is
//      idle, asleep, suspended or crashed can continue and is never touched, whatever its age; nor is a worktree, which
//      may hold work. A clone goes with its agent if it holds none; otherwise both stay, so that it can be fetched from
//      (clones.ts).
// GA2. Only files whose names are ours are named; a directory that holds other files stays. The log comes last: as long
//      as anything is left, the agent can be found by it.

import { joinPath } from "../../base/path.ts";
import type { Agent } from "../../core/agent/agent.ts";
import { overForGood } from "../../core/agent/gone.ts";
import { beyond, daysMs, type Thing } from "../../core/retention.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import { AGENTS, RUN } from "../../home/layout.ts";
import { listWithin } from "../../log/file/file.ts";
import { EVENTS_FILE } from "../../log/session/places.ts";
import type { Disk } from "../../world/disk.ts";
import { type Forget, type Garbage, sized, timeOf, type Work } from "../gc.ts";
import type { Retention } from "../part.ts";
import { CLAUDE } from "./claude-state.ts";
import { agentDirectory } from "./process-files.ts";

/** The files beside the log, including what an interrupted write leaves. */
const RECORD = /^(?:session\.json|token|poison\.json|checkpoint(?:\.backup)?\.json)(?:\..+)?$/;

export type AgentGarbage = {
  agents(): Iterable<Agent>;
  readonly forget: Forget;
  clone(agent: Agent): Work | undefined;
};

export function agentGarbage(place: HomeWorld, { agents, forget, clone }: AgentGarbage, rules: Retention): Garbage[] {
  const { disk, clock } = place;
  const all = [...agents()];
  const limits = { ageMs: daysMs(rules.agentDays), bytes: rules.agentBytes };
  const things = endedAgents(place, overForGood(all)).map(({ agent, ...thing }) => ({
    ...thing,
    session: { id: agent.id, forget },
    agent,
  }));
  const empty = emptyDirectories(place, all).map((path) => {
    const thing = sized(disk, "directory of an agent that was removed", [path]);
    return { ...thing, at: undefined, reason: "it is empty" };
  });
  const due = beyond(things, limits, clock.now()).map(({ agent, ...thing }) => withClone(thing, clone(agent)));
  return [...due, ...empty];
}

function withClone(thing: Garbage, work: Work | undefined): Garbage {
  return work === undefined ? thing : { ...thing, what: `${thing.what}, and ${work.what}`, work };
}

/** One entry for each agent. */
function endedAgents({ disk, home }: HomeWorld, over: readonly Agent[]): (Thing & { readonly agent: Agent })[] {
  const sockets = disk.list(joinPath(home, RUN));
  return over.map((agent) => {
    const { id, terminated } = agent;
    const directory = agentDirectory(home, id);
    const names = disk.list(directory);
    const records = names.filter((name) => RECORD.test(name)).map((name) => joinPath(directory, name));
    const left = sockets.filter((name) => name.startsWith(`a${id.slice(0, 12)}-`));
    const paths = [
      ...left.flatMap((name) => treeBelow(disk, joinPath(home, `${RUN}/${name}`))),
      ...processFiles(disk, joinPath(directory, "processes")),
      ...(names.includes(CLAUDE) ? treeBelow(disk, joinPath(directory, CLAUDE)) : []),
      ...records,
      joinPath(directory, EVENTS_FILE), // GA2. It may be created as late as now, from the write-ahead log.
      directory,
    ];
    return { ...sized(disk, "an agent that was terminated", paths), agent, at: timeOf(terminated?.at ?? "") };
  });
}

/** Each process has its own directory, named by its number, which holds only our files. */
function processFiles(disk: Disk, directory: string): string[] {
  if (disk.stat(directory) === undefined) return [];
  const numbers = listWithin(disk, directory).filter((name) => /^\d+$/.test(name));
  return [...numbers.flatMap((number) => treeBelow(disk, joinPath(directory, number))), directory];
}

/** Its contents first, then the directory itself. */
function treeBelow(disk: Disk, path: string): string[] {
  if (disk.lstat(path)?.kind !== "directory") return [path];
  return [...disk.list(path).flatMap((name) => treeBelow(disk, joinPath(path, name))), path];
}

/** Left by agents whose removal stopped before the last step: they are empty and belong to no agent. */
function emptyDirectories({ disk, home }: HomeWorld, agents: readonly { readonly id: string }[]): string[] {
  const known = new Set(agents.map(({ id }) => id));
  const ids = disk.list(joinPath(home, AGENTS)).filter((name) => /^[0-9a-f]{32}$/.test(name) && !known.has(name));
  return ids.map((id) => agentDirectory(home, id)).filter((path) => disk.list(path).length === 0);
}
