// What must hold for agents after every crash (FI-3), checked against the disk and what programs and people received,
// independently of the daemon.
import type { AgentRecord } from "../../src/core/agent/agent.ts";
import { applyAgent } from "../../src/core/agent/apply.ts";
import type { AgentEvent } from "../../src/core/agent/events.ts";
import { CRASH_WINDOW_MS, CRASHES } from "../../src/core/agent/process.ts";
import { readWhole } from "../../src/log/file/file.ts";
import type { LogView } from "../../src/log/inspect.ts";
import { isArchivedName, sessionPath } from "../../src/log/session/places.ts";
import type { ShownAgent } from "../../src/wire/rpc/agent.ts";
import { agentEventOf } from "../../src/wire/stored/agent.ts";
import type { Disk } from "../../src/world/disk.ts";
import { HOME } from "../sim/machine.ts";

const AGENTS = "agents/";
const STATES = ["CREATED", "ACTIVE", "SUSPENDED", "TERMINATED"];

export type Logs = ReadonlyMap<string, readonly Logged[]>;
export type Logged = Pick<AgentEvent, "event"> & { readonly data: Readonly<Record<string, unknown>> };

/** Everything that is logged about agents, by their ids. */
export function agentLogsOf(view: LogView): Map<string, Logged[]> {
  const of = [...logsOf(view)].filter(([session]) => session.startsWith(AGENTS));
  return new Map(of.map(([session, log]) => [session.slice(AGENTS.length), log]));
}

/** Everything that is logged, by session. */
export function logsOf(view: LogView): Map<string, Logged[]> {
  const logs = new Map<string, Logged[]>();
  for (const session of view.sessions) {
    const entries = [...view.read(session)].flatMap((reading) => (reading.kind === "entry" ? [reading.entry] : []));
    logs.set(session, entries as unknown as Logged[]);
  }
  return logs;
}

/** What is wrong with the files; empty if nothing is. */
export function wrongOnDisk(disk: Disk, view: LogView, logs: Logs): string[] {
  const damage = view.inspect().findings.filter(({ kind }) => kind === "damage");
  return [
    ...damage.map(({ where, what }) => `the log is no valid prefix: ${where}: ${what}`),
    ...[...logs].flatMap(([id, log]) => [...ofRecord(disk, id), ...ofTree(logs, id, log), ...ofLog(id, log)]),
    ...ofMessages(logs),
    ...disk.list(`${HOME}/agents`).flatMap((name) => (logs.has(idIn(name)) ? [] : ofUnknown(disk, name))),
    ...twice(disk.list(`${HOME}/agents`).map(idIn)).map((id) => `${id} is alive and archived`),
  ];
}

function idIn(name: string): string {
  return isArchivedName(name) ? name.slice(1) : name;
}

function twice(ids: readonly string[]): string[] {
  return ids.filter((id, at) => ids.indexOf(id) < at);
}

/** Every session record is whole, and has a valid state. */
function ofRecord(disk: Disk, id: string): string[] {
  const bytes = readWhole(disk, `${sessionPath(disk, HOME, `agents/${id}`)}/session.json`);
  if (bytes === undefined) return [];
  const record = JSON.parse(Buffer.from(bytes).toString());
  return STATES.includes(record.state) && record.agent_uuid === id ? [] : [`a record of ${id}: ${record.state}`];
}

/** The log comes first: no agent has a record or a process unless its creation is logged. */
function ofUnknown(disk: Disk, id: string): string[] {
  return disk.list(`${HOME}/agents/${id}`).map((name) => `${id} has ${name} and no log`);
}

/** No orphan, and no missing parent. */
function ofTree(logs: Logs, id: string, log: readonly Logged[]): string[] {
  if (log[0]?.event !== "agent.created") return [`${id} begins with ${log[0]?.event}`];
  const parent = log[0].data["parent_session_id"];
  return parent === null || logs.has(String(parent)) ? [] : [`${id} has no parent`];
}

/** What may happen at most once: the event, and the field that identifies its object. */
const ONCE = {
  "message.enqueued": "message_id",
  "message.delivered": "message_id",
  "message.sent": "message_id",
  "turn.start": "turn",
  "prompt.answered": "prompt_id",
  "prompt.delivered": "prompt_id",
  "process.starting": "generation",
  "reminder.fired": "reminder_id",
  "agent.created": "agent_id",
  "agent.terminated": "agent_id",
} as const;

function ofLog(id: string, log: readonly Logged[]): string[] {
  const twice = Object.entries(ONCE).flatMap(([event, field]) => {
    const of = valuesOf(log, event, field);
    return of.filter((value, at) => of.indexOf(value) !== at).map((value) => `${id}: ${event} ${value} twice`);
  });
  const enqueued = valuesOf(log, "message.enqueued", "message_id");
  const unknown = valuesOf(log, "message.delivered", "message_id").filter((one) => !enqueued.includes(one));
  const opened = valuesOf(log, "prompt.opened", "prompt_id");
  const unasked = valuesOf(log, "prompt.answered", "prompt_id").filter((one) => !opened.includes(one));
  const nowhere = [...unknown, ...unasked].map((one) => `${id}: ${one} comes from nowhere`);
  return [...twice, ...nowhere, ...ofPrompts(id, log), ...ofCrashes(id, log)];
}

/** A prompt is asked once, or again if the process that asked was gone and nobody had answered. */
function ofPrompts(id: string, log: readonly Logged[]): string[] {
  const last = new Map<string, string>();
  return log.flatMap(({ event, data }) => {
    if (!event.startsWith("prompt.")) return [];
    const prompt = String(data["prompt_id"]);
    const before = last.get(prompt);
    if (event !== "prompt.refreshed" && before !== "answered") last.set(prompt, event.slice("prompt.".length));
    const isWrong = event === "prompt.opened" && before !== undefined && before !== "stale";
    return isWrong ? [`${id}: ${prompt} is asked again after it was ${before}`] : [];
  });
}

/**
 * SP-2: after this many crashes within a minute only a person restarts it, whatever happens to the daemon in between.
 */
function ofCrashes(id: string, log: readonly Logged[]): string[] {
  let crashes: number[] = [];
  const wrong: string[] = [];
  for (const { event, data } of log) {
    if (event === "agent.retried") crashes = [];
    if (event === "process.ended" && CRASHED.includes(String(data["outcome"])))
      crashes.push(Date.parse(String(data["at"])));
    if (event !== "process.starting") continue;
    const last = crashes.at(-1) ?? 0;
    const together = crashes.filter((at) => last - at < CRASH_WINDOW_MS).length;
    if (together >= CRASHES) wrong.push(`${id} is started after ${together} crashes within a minute`);
  }
  return wrong;
}

const CRASHED = ["crashed", "killed"];

/** What a daemon shows of an agent that lives. */
export type Shown = Pick<ShownAgent, "id" | "parent" | "prompts" | "reminders"> & { readonly inbox: readonly string[] };

/** The tree matches the log, and so does each agent: its inbox, its open questions, its reminders (AG-2, PR-3). */
export function wrongWithState(logs: Logs, agents: readonly Shown[]): string[] {
  const living = [...logs].filter(([, log]) => !log.some(({ event }) => event === "agent.terminated"));
  const tree = living.map(([id, log]) => `${id} below ${log[0]?.data["parent_session_id"]}`).sort();
  const shown = agents.map(({ id, parent }) => `${id} below ${parent}`).sort();
  const isSame = shown.join() === tree.join();
  const wrong = agents.flatMap((agent) => wrongWithAgent(logs.get(agent.id) ?? [], agent));
  return isSame ? wrong : [...wrong, `the tree is: ${shown}, and the log says ${tree}`];
}

function wrongWithAgent(log: readonly Logged[], agent: Shown): string[] {
  const without = (event: string, ends: readonly string[], field: string) => {
    const over = new Set(ends.flatMap((end) => valuesOf(log, end, field)));
    return log.filter(({ event: name, data }) => name === event && !over.has(String(data[field])));
  };
  const ids = (found: readonly Logged[], field: string) => found.map(({ data }) => data[field]);
  const inbox = without("message.enqueued", ["message.delivered"], "message_id");
  const prompts = openIn(log);
  const reminders = without("reminder.set", ["reminder.fired"], "reminder_id");
  const pairs = {
    inbox: [agent.inbox, ids(inbox, "message_id")],
    prompts: [agent.prompts.map(({ id }) => id), prompts],
    reminders: [agent.reminders.map(({ due }) => due), ids(reminders, "due")],
  };
  return Object.entries(pairs)
    .filter(([, [is, should]]) => String(is) !== String(should))
    .map(([what, [is, should]]) => `the ${what} of ${agent.id}: ${is}, and the log says ${should}`);
}

/** The prompts that wait for an answer, in the order in which they were asked last. */
function openIn(log: readonly Logged[]): string[] {
  const open = new Set<string>();
  for (const { event, data } of log) {
    const prompt = String(data["prompt_id"]);
    if (event === "prompt.opened") open.add(prompt);
    if (event === "prompt.answered" || event === "prompt.stale") open.delete(prompt);
  }
  return [...open];
}

/** The agents that are active after these events, and how many there are of each. */
export function foundActive(logs: Logs): Map<string, number> {
  const isActive = (agent: AgentRecord | undefined) =>
    agent?.kind === "agent" && agent.session.kind === "active" && agent.terminated === undefined;
  return new Map([...logs].filter(([id, log]) => isActive(folded(id, log))).map(([id, log]) => [id, log.length]));
}

function folded(id: string, log: readonly Logged[]): AgentRecord | undefined {
  const events = log.flatMap(({ event, data }) => agentEventOf({ session_id: id, event, data }) ?? []);
  return events.reduce<AgentRecord | undefined>(applyAgent, undefined);
}

/** What may happen to an agent in any state of its session. */
const OF_NO_SESSION = /^(message|rule|reminder)\./;

/** What happened first to agents that were found active, unless that is their suspension. */
export function tooEarly(active: ReadonlyMap<string, number>, logs: Logs): string[] {
  return [...active].flatMap(([id, known]) => {
    const first = logs
      .get(id)
      ?.slice(known)
      .find(({ event }) => !OF_NO_SESSION.test(event))?.event;
    return first === undefined || first === "suspend.result"
      ? []
      : [`${first} happens to ${id}, which was found active`];
  });
}

type End = { readonly name: string; readonly instructions: string; readonly by?: string; readonly result?: string };

/** What became of each agent, by name. */
export function endsOf(logs: Logs): End[] {
  const ends = [...logs.values()].map((log) => {
    const [name = "", instructions = ""] = ["name", "instructions"].flatMap((field) =>
      valuesOf(log, "agent.created", field),
    );
    const [by] = valuesOf(log, "agent.terminated", "by");
    const [result] = valuesOf(log, "agent.completed", "result");
    return { name, instructions, ...(by !== undefined && { by }), ...(result !== undefined && { result }) };
  });
  return ends.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export function valuesOf(log: readonly Logged[], event: string, field: string): string[] {
  return log.filter((entry) => entry.event === event).map(({ data }) => String(data[field]));
}

/** A message is in both logs, or in none. */
function ofMessages(logs: Logs): string[] {
  const enqueued = [...logs].flatMap(([id, log]) =>
    log.flatMap(({ event, data }) =>
      event === "message.enqueued" ? [`${data["sender"]} ${data["message_id"]} ${id}`] : [],
    ),
  );
  const sent = [...logs].flatMap(([id, log]) =>
    log.flatMap(({ event, data }) =>
      event === "message.sent" ? [`${id} ${data["message_id"]} ${data["recipient"]}`] : [],
    ),
  );
  const between = enqueued.filter((one) => logs.has(one.slice(0, one.indexOf(" "))));
  const half = [...between.filter((one) => !sent.includes(one)), ...sent.filter((one) => !between.includes(one))];
  return half.map((one) => `half a message: ${one}`);
}

/** Without times and ids: the same however often it was disturbed. */
export function plainly(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replaceAll(/\b[0-9a-f]{16}(?:[0-9a-f]{16})?\b/g, "ID");
}
