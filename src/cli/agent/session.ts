// An agent's log on disk, whether or not a daemon is running and writing to it.
// AS1. A daemon that answers resolves the name. If it does not know it (a terminated agent), or is down, the logs are
//      searched: an agent's first entry has its name.
// AS2. The daemon is asked about the agent, so that it knows that a person looks: its prompts do not expire meanwhile.

import { ok, type Result } from "../../base/result.ts";
import { agentSession } from "../../core/agent/agent.ts";
import type { AgentEvent } from "../../core/agent/events.ts";
import { pickAgent } from "../../core/agent/find.ts";
import { dial } from "../../home/dial.ts";
import { agentEventOf } from "../../wire/stored/agent.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import type { HomeFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { DurableEnd } from "../log/durable.ts";
import { type Following, follow } from "../log/follow.ts";
import { lastEntries } from "../log/last.ts";
import { cursorAt, type EntryFound, inOrder } from "../log/merge.ts";
import { endOf, type Opened, steadyView } from "../log/view.ts";
import { findAgent } from "./find.ts";

export type AgentLog = { readonly id: string; readonly opened: Opened };

export async function openAgentLog(
  world: DaemonCommandWorld,
  flags: HomeFlags,
  key: string,
): Promise<Result<AgentLog>> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const known = await knownToDaemon(world, home.value, key);
  const view = await steadyView(world, home.value);
  const opened = { home: home.value, view, sessions: view.sessions };
  const id = known ?? idOnDisk(opened, key); // AS1
  return id.ok ? ok({ id: id.value, opened: { ...opened, sessions: [agentSession(id.value)] } }) : id;
}

/** Returns undefined if the daemon does not know the agent or does not answer. */
async function knownToDaemon(
  world: DaemonCommandWorld,
  home: string,
  key: string,
): Promise<Result<string> | undefined> {
  const line = await dial(world, home);
  if (!line.ok || line.value === undefined) return undefined;
  const found = await findAgent(line.value, key);
  if (found.ok) await line.value.call("agent.show", { id: found.value.id }); // AS2
  line.value.close();
  if (found.ok) return ok(found.value.id);
  return found.error.code === "ambiguous" ? found : undefined;
}

function idOnDisk(opened: Opened, key: string): Result<string> {
  const all = opened.sessions.filter((session) => session.startsWith(agentSession("")));
  const agents = all.flatMap((session) => {
    const [first] = inOrder(opened.view, new Map([[session, cursorAt()]]), { from: 1, until: endOf(opened.view) }, []);
    const event = first === undefined ? undefined : agentEventOf(first.entry);
    if (event?.event !== "agent.created") return [];
    return [{ id: event.id, name: event.data.name, parent: event.data.parent_session_id }];
  });
  const picked = pickAgent(agents, key);
  return picked.ok ? ok(picked.value.id) : picked;
}

/** A following that starts at what is durable now, plus the last `before` entries. */
export function fromNow(world: DaemonCommandWorld, opened: Opened, before: number) {
  const until = new DurableEnd(world.disk).of(opened);
  const { entries, cursors } = lastEntries(world, opened, before, until);
  const following: Following = { home: opened.home, session: opened.sessions[0], cursors, shown: until };
  return { entries, following };
}

/** Few entries follow an agent's end, and they are about its process. */
const AFTER_END = 100;

/** Whether the agent has ended by this seq. */
export function hasEnded(world: DaemonCommandWorld, opened: Opened, until: number): boolean {
  return lastEntries(world, opened, AFTER_END, until).entries.some(({ entry }) => isEnd(entry));
}

export function isEnd({ event }: EntryFound["entry"]): boolean {
  return event === "agent.terminated";
}

function eventsOf(entries: Iterable<EntryFound>): AgentEvent[] {
  return [...entries].flatMap(({ entry }) => agentEventOf(entry) ?? []);
}

/** Passes on what becomes durable in the agent's log, until `show` has enough or the user presses Ctrl-C. */
export function followEvents(
  world: DaemonCommandWorld,
  following: Following,
  enough: (events: readonly AgentEvent[]) => Promise<boolean>,
): Promise<"stop" | "enough"> {
  return follow(world, following, async (entries) => ((await enough(eventsOf(entries))) ? "enough" : "more"));
}
