// Which files of agents garbage collection may delete: everything of an agent that is over for good, including its log.
// GA1. An agent is over for good once it and all its descendants were terminated (core/agent/gone.ts). One that is
//      idle, asleep, suspended or crashed can continue and is never touched, whatever its age; nor is a worktree, which
//      may hold work. A clone goes with its agent if it holds none; otherwise both stay, so that it can be fetched from
//      (clones.ts).
// GA2. Only files whose names are ours are named; a directory that holds other files stays. The log comes last: as long
//      as anything is left, the agent can be found by it. Only its checkpoints stay until then: without its segments, a
//      log folds only from them. If a crash leaves them, they belong to no agent, and are removed by the next round.
// GA3. The same holds for an archived agent. Its line says how old and how large it is. Only if it is due, its files
//      are named, and it is read, for its clone. One that cannot be read stays.

import { joinPath } from "../../base/path.ts";
import type { Agent } from "../../core/agent/agent.ts";
import { overForGood } from "../../core/agent/gone.ts";
import { beyond, daysMs, type Thing } from "../../core/retention.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import { AGENTS, RUN } from "../../home/layout.ts";
import { listWithin } from "../../log/file/file.ts";
import { isLogFile } from "../../log/session/log-segments.ts";
import { archivedName, EVENTS_FILE } from "../../log/session/places.ts";
import type { Disk } from "../../world/disk.ts";
import { treeBelow } from "../archive-gc.ts";
import { idOf } from "../fold.ts";
import { type Forget, type Garbage, sized, timeOf, type Work } from "../gc.ts";
import type { Retention } from "../part.ts";
import type { AgentArchive } from "./archive.ts";
import { CLAUDE } from "./claude-state.ts";
import { agentDirectory } from "./process-files.ts";

/** The files beside the log, including what an interrupted write leaves. */
const RECORD = /^(?:session\.json|token|poison\.json)(?:\..+)?$/;
const CHECKPOINT = /^checkpoint(?:\.backup)?\.json(?:\..+)?$/;

export type AgentGarbage = {
  agents(): Iterable<Agent>;
  readonly archive: Pick<AgentArchive, "lines" | "agent">;
  readonly forget: Forget;
  clone(agent: Agent): Work | undefined;
};

/** `bytes` and `at` are known; the paths are those of its directory (GA3). */
type Ended = Thing & { readonly id: string; agent(): Agent | undefined };

const WHAT = "an agent that was terminated";

export function agentGarbage(place: HomeWorld, ports: AgentGarbage, rules: Retention): Garbage[] {
  const { disk, clock } = place;
  const all = [...ports.agents()];
  const limits = { ageMs: daysMs(rules.agentDays), bytes: rules.agentBytes };
  const ended = [...endedAgents(place, overForGood(all)), ...archivedAgents(place, ports.archive)];
  const due = beyond(ended, limits, clock.now()).flatMap(({ id, agent: read, ...thing }) => {
    const agent = read();
    if (agent === undefined) return []; // GA3
    const paths = [...socketsOf(place, id), ...thing.paths.flatMap((directory) => filesOf(disk, directory))];
    return [withClone({ ...thing, paths, session: { id, forget: ports.forget } }, ports.clone(agent))];
  });
  const empty = leftDirectories(place, all).map((path) => {
    const paths = [...disk.list(path).map((name) => joinPath(path, name)), path];
    return { ...sized(disk, "directory of an agent that was removed", paths), at: undefined, reason: "it has no log" };
  });
  return [...due, ...empty];
}

function withClone(thing: Garbage, work: Work | undefined): Garbage {
  return work === undefined ? thing : { ...thing, what: `${thing.what}, and ${work.what}`, work };
}

function endedAgents({ disk, home }: HomeWorld, over: readonly Agent[]): Ended[] {
  return over.map((agent) => {
    const { id, terminated } = agent;
    const directory = agentDirectory(home, id);
    const { bytes } = sized(disk, WHAT, filesOf(disk, directory));
    return { what: WHAT, paths: [directory], bytes, at: timeOf(terminated?.at ?? ""), id, agent: () => agent };
  });
}

/** GA3 */
function archivedAgents({ home }: HomeWorld, archive: AgentGarbage["archive"]): Ended[] {
  return [...archive.lines()].map(({ session, bytes, at }) => {
    const id = idOf(session);
    const paths = [joinPath(home, archivedName(session))];
    return { what: WHAT, paths, bytes, at: timeOf(at ?? ""), id, agent: () => archive.agent(id) };
  });
}

/** Of its processes, and of their proxies. */
function socketsOf({ disk, home }: HomeWorld, id: string): string[] {
  const left = disk.list(joinPath(home, RUN)).filter((name) => name.startsWith(`a${id.slice(0, 12)}-`));
  return left.flatMap((name) => treeBelow(disk, joinPath(home, `${RUN}/${name}`)));
}

/** GA2 */
function filesOf(disk: Disk, directory: string): string[] {
  const names = disk.list(directory);
  const named = (isMeant: (name: string) => boolean) => names.filter(isMeant).map((name) => joinPath(directory, name));
  return [
    ...processFiles(disk, joinPath(directory, "processes")),
    ...(names.includes(CLAUDE) ? treeBelow(disk, joinPath(directory, CLAUDE)) : []),
    ...named((name) => RECORD.test(name) || (isLogFile(name) && name !== EVENTS_FILE)),
    joinPath(directory, EVENTS_FILE), // GA2. It may be created as late as now, from the write-ahead log.
    ...named((name) => CHECKPOINT.test(name)),
    directory,
  ];
}

/** Each process has its own directory, named by its number, which holds only our files. */
function processFiles(disk: Disk, directory: string): string[] {
  if (disk.stat(directory) === undefined) return [];
  const numbers = listWithin(disk, directory).filter((name) => /^\d+$/.test(name));
  return [...numbers.flatMap((number) => treeBelow(disk, joinPath(directory, number))), directory];
}

/** Left by agents whose removal stopped before the last step: they belong to no agent (GA2). */
function leftDirectories({ disk, home }: HomeWorld, agents: readonly { readonly id: string }[]): string[] {
  const known = new Set(agents.map(({ id }) => id));
  const ids = disk.list(joinPath(home, AGENTS)).filter((name) => /^_?[0-9a-f]{32}$/.test(name) && !known.has(name));
  return ids
    .map((id) => agentDirectory(home, id))
    .filter((path) => disk.list(path).every((name) => CHECKPOINT.test(name)));
}
