// Recovery of agents (AG-2, AG-4, AG-7): the tree comes from the logs alone; each process is examined, and each agent
// continues by its policy.
// V1. Active agents are suspended first, then adopted if their process is alive: nothing is taken for granted. If the
//     log is blocked for a moment (a full disk), the recovery waits for it: otherwise the prompt of a process that is
//     gone could be answered in between.
// V2. A session without `agent.created` is an orphan: ended and set aside, never started. Its log is copied to the
//     quarantine before it is ended: after that it is an orphan no more. The original stays; recovery destroys nothing.
// V3. A holder that does not answer does not delay the recovery: it is examined again in the engine's rounds.
// V4. In safe mode the codec of an agent that was set aside for it is not run again: the agent is set aside at once.
// V5. What is on record of each session (session.json) is compared with the log, which decides.
// V6. In a home that was taken over from another host, an agent whose directory, worktree or clone is not on this one,
//     or is another one here, waits for a person: it would lack what it has done there.
import { someAtOnce } from "../../base/all-of.ts";
import { type Agent, agentSession, isAside, isLive, openPrompts, stateOf } from "../../core/agent/agent.ts";
import { isAlive } from "../../core/agent/process.ts";
import { styleOf } from "../../core/agent/provider.ts";
import { orphanedSessions } from "../../core/agent/tree.ts";
import { type Fate, leftOn, type ReportItem } from "../../core/recovery.ts";
import { readTaken } from "../../home/fleet-files.ts";
import { readWhole } from "../../log/file/file.ts";
import { quarantine } from "../../log/file/quarantine.ts";
import { eventsPath } from "../../log/session/places.ts";
import type { Poison } from "../../log/session/poisons.ts";
import { noteOf } from "../../wire/rpc/listed-agent.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import { pause } from "../../world/wait.ts";
import type { PartBorder } from "../part.ts";
import type { StageWork } from "../recovery-run.ts";
import type { AgentEngine } from "./engine.ts";
import type { SessionRecords } from "./records.ts";
import type { AgentStore } from "./store.ts";

/** How many agents are examined in parallel. */
const AT_ONCE = 64;
/** V1. A blocked log tries again every second. */
const BLOCKED_MS = 2_000;
const PAUSE_MS = 100;

type Place = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

export type AgentRecovery = {
  readonly border: PartBorder;
  readonly place: Place;
  readonly store: AgentStore;
  readonly engine: AgentEngine;
  readonly records: SessionRecords;
  /** V4: where its codec would fail again. */
  poisonAhead(agent: Agent): Poison | undefined;
  /** V6 */
  whyOther(id: string): string | undefined;
  begin(): void;
  schedule(): Promise<void>;
};

export function agentStages(recovery: AgentRecovery): Pick<StageWork, "RESTORING" | "RECONCILING"> {
  return {
    RESTORING: async (progress) => [...(await setAsideOrphans(recovery)), ...(await restore(recovery, progress))],
    RECONCILING: async () => {
      await resume(recovery);
      return [];
    },
  };
}

/** V2 */
async function setAsideOrphans({ border, place, store }: AgentRecovery): Promise<ReportItem[]> {
  const { orphans, dangling } = orphanedSessions(store.states);
  for (const id of orphans) {
    await border.tolerating(() => quarantineLog(place, id));
    await store.submit({ kind: "orphan", id });
  }
  const lone = dangling.map((id) => {
    const name = store.agent(id)?.name ?? id.slice(0, 12);
    return item(id, name, "needs you", "its parent is gone", `holdfast agent inspect ${id.slice(0, 8)}`);
  });
  const ended = orphans.map((id) =>
    item(id, id.slice(0, 12), "could not", `${NO_AGENT}; its log is in quarantine/`, "holdfast log show"),
  );
  return [...ended, ...lone];
}

async function quarantineLog({ disk, clock, home }: Place, id: string): Promise<void> {
  const from = eventsPath(home, agentSession(id));
  const bytes = readWhole(disk, from);
  const damage = { name: `agent-${id}`, from, offset: 0, reason: NO_AGENT, at: clock.now() };
  if (bytes !== undefined) await quarantine(disk, home, damage, bytes);
}

const NO_AGENT = "it is a session without an agent: it was never acknowledged, and is ended";

async function restore(recovery: AgentRecovery, progress: () => void): Promise<ReportItem[]> {
  const live = [...recovery.store.agents()].filter((agent) => isLive(agent) && !isAside(agent));
  const until = recovery.place.clock.elapsed() + BLOCKED_MS;
  recovery.records.hold(); // R4 of records.ts
  try {
    return await someAtOnce(AT_ONCE, live, async (agent) => {
      const item = await adoptOne(recovery, agent, until);
      progress();
      return item;
    });
  } finally {
    recovery.records.release();
  }
}

function adoptOne(recovery: AgentRecovery, agent: Agent, until: number): Promise<ReportItem> {
  const { border, poisonAhead } = recovery;
  return border.adopting(agent.id, async () => {
    const poison = poisonAhead(agent); // V4
    const aside = poison && border.setAside(agent.id, { ...poison, passes: true });
    if (aside !== undefined) return aside;
    await detach(recovery, agent, until);
    return adoptChecked(recovery, agent);
  }); // PB2 of part.ts
}

/** V1, V6 */
async function detach(recovery: AgentRecovery, agent: Agent, until: number): Promise<void> {
  const { store, place } = recovery;
  const { clock } = place;
  const hold = leftBehind(recovery, agent);
  const command = { kind: "detach", id: agent.id, ...(hold !== undefined && { hold }) } as const;
  while (!(await store.submit(command)).ok && clock.elapsed() < until) await pause(clock, PAUSE_MS);
}

/** V6. Its worktree or clone is the first that it would make anew, without what was not committed. */
function leftBehind(recovery: AgentRecovery, { id, plan, generation }: Agent): string | undefined {
  const { place, whyOther } = recovery;
  const from = readTaken(place)?.from;
  if (from === undefined || styleOf(plan.recipe) === "request") return undefined;
  const other = whyOther(id);
  if (other !== undefined) return `${leftOn(from)}; ${other}. In what is there: holdfast agent retry ${id.slice(0, 8)}`;
  const { worktree = null, clone } = plan.workspace ?? {};
  const own = worktree ?? clone;
  const needed = own === undefined ? plan.cwd : generation === 0 ? own.repository : own.path; // The process makes it.
  if (place.disk.stat(needed) !== undefined) return undefined;
  return `${leftOn(from)}; ${needed} is not on this host. Without it: holdfast agent retry ${id.slice(0, 8)}`;
}

/** V5 */
async function adoptChecked(recovery: AgentRecovery, agent: Agent): Promise<ReportItem> {
  const wrong = recovery.records.check(agent);
  const found = await adopt(recovery, agent);
  return wrong === undefined ? found : { ...found, reason: `${found.reason}; ${wrong}, and was written again` };
}

/** V1 */
async function adopt({ store, engine, records }: AgentRecovery, before: Agent): Promise<ReportItem> {
  const { id, name } = before;
  const lived = store.agent(id)?.process.kind === "Detached" ? await engine.processes.adopt(before) : undefined;
  const agent = store.agent(id);
  if (agent !== undefined) records.note(agent);
  if (agent !== undefined && needsPerson(agent))
    return item(
      id,
      name,
      "needs you",
      noteOf(agent) ?? "",
      `holdfast agent retry ${id.slice(0, 8)}${freshFlag(agent)}`,
    );
  if (lived?.kind === "unreachable") return item(id, name, "needs you", SILENT, TREE);
  if (lived?.kind === "refused")
    return item(id, name, "back as it was", `its process cannot be started yet: ${lived.reason}`, TREE);
  if (agent === undefined || lived?.kind !== "running")
    return item(id, name, "back as it was", "it continues by its policy", TREE);
  const [prompt] = openPrompts(agent);
  if (prompt !== undefined)
    return item(id, name, "back as it was", "it waits for an answer", `holdfast answer ${prompt.id} allow`);
  return item(id, name, "back as it was", "its process lived on", TREE);
}

function needsPerson(agent: Agent): boolean {
  return stateOf(agent) === "crashed" || agent.held !== undefined;
}

/** Trying the same again would fail again. */
function freshFlag({ held }: Agent): string {
  return held?.unresumable === true ? " --fresh" : "";
}

const SILENT = "its holder lives but does not answer";
const TREE = "holdfast agent tree";

/** AG-7 */
async function resume({ border, store, engine, begin, schedule }: AgentRecovery): Promise<void> {
  begin();
  await schedule();
  for (const { id } of store.agents()) {
    const agent = store.settledAgent(id);
    if (
      agent !== undefined &&
      (agent.terminated === undefined || isAlive(agent.process) || agent.broadcasts.length > 0)
    )
      border.guard(id, () => engine.performAll(agent)); // PB2 of part.ts
  }
}

function item(id: string, name: string, fate: Fate, reason: string, next: string): ReportItem {
  return { what: "agent", id, name, fate, reason, next };
}
