// Agents as `--json` prints them. Other programs rely on this shape: fields are added, never changed.
import type { ListedAgent } from "../../wire/rpc/agent.ts";

export type TreeRow = ListedAgent & { readonly children: readonly TreeRow[] };

export function rowOf(agent: ListedAgent): ListedAgent {
  const { id, name, state, provider, inbox, prompts, parent, model, cwd, createdAt } = agent;
  const { turns, turnStartedAt, pid, note, failure, usage, lane } = agent;
  return {
    ...{ id, name, state, provider, inbox, prompts, parent, model, cwd, createdAt },
    ...{ turns, turnStartedAt, pid, note },
    ...(failure !== undefined && { failure }),
    ...(usage !== undefined && { usage }),
    ...(lane !== undefined && { lane }),
  };
}

/** Why it does not go on, or what became of its last turn, and what to do about it. */
export function noteText({ name, note, failure, turnStartedAt }: ListedAgent): string {
  if (failure === undefined || turnStartedAt !== null) return note ?? "";
  const why =
    note?.includes(failure.reason) === true ? note : `${note ?? ""} Turn ${failure.turn} failed: ${failure.reason}`;
  return `${why.trim()} → holdfast agent retry ${name}`;
}

/** An agent whose parent is missing is placed at the top, so that none is left out. */
export function treeOf(agents: readonly ListedAgent[]): TreeRow[] {
  const ids = new Set(agents.map(({ id }) => id));
  const below = Map.groupBy(agents, ({ parent }) => (parent !== null && ids.has(parent) ? parent : null));
  const grow = (parent: string | null): TreeRow[] =>
    (below.get(parent) ?? [])
      .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt) || a.name.localeCompare(b.name))
      .map((agent) => ({ ...rowOf(agent), children: grow(agent.id) }));
  return grow(null);
}

/** "42 s", "3 min 10 s", "2 h 5 min", "6 d 23 h". */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
