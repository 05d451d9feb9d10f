// Everything on a home as rows that can be selected: prompts, agents, terminals and runs.
// RW1. A row is known by its key, never by its position: rows come and go while a person looks at them.
import { shortId } from "../../base/ids.ts";
import { localTime, localTimes, type Zone } from "../../base/local-time.ts";
import { plainLine } from "../../base/visible.ts";
import { nextOf } from "../../core/workflow/progress.ts";
import type { ListedAgent, ListedPrompt } from "../../wire/rpc/agent.ts";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { inputLines } from "../agent/prompt-block.ts";
import { treeOf } from "../agent/row.ts";
import { linesOf } from "../agent/tree.ts";
import { count } from "../print.ts";
import { agentText, stateText as terminalState } from "../terminal/ls.ts";
import { stateText as runState } from "../workflow/rows.ts";

export type Lists = {
  readonly prompts: readonly ListedPrompt[];
  readonly agents: readonly ListedAgent[];
  readonly terminals: readonly BriefTerminal[];
  readonly runs: readonly ListedRun[];
};

export const NO_LISTS: Lists = { prompts: [], agents: [], terminals: [], runs: [] };

export type Target =
  | { readonly kind: "prompt"; readonly of: ListedPrompt }
  | { readonly kind: "agent"; readonly of: ListedAgent }
  | { readonly kind: "terminal"; readonly of: BriefTerminal }
  | { readonly kind: "run"; readonly of: ListedRun };

/** `cells`: as they are listed; they may hold anything, and are made visible where they are drawn. */
export type Row = { readonly key: string; readonly target: Target; readonly cells: readonly string[] };
export type Section = { readonly title: string; readonly rows: readonly Row[] };

export function sectionsOf(lists: Lists, zone: Zone): Section[] {
  return [
    { title: "PROMPTS", rows: openOf(lists).map((prompt) => promptRow(prompt, zone)) },
    { title: "AGENTS", rows: agentRows(lists.agents, zone) },
    { title: "TERMINALS", rows: liveFirst(lists.terminals, isRunning).map(terminalRow) },
    { title: "RUNS", rows: liveFirst(lists.runs, isGoing).map(runRow) },
  ];
}

export function countsOf({ prompts, agents, terminals, runs }: Lists): string {
  const live = agents.filter(({ state }) => state !== "terminated");
  const words = [count(prompts.length, "prompt"), count(live.length, "agent"), count(terminals.length, "terminal")];
  return [...words, count(runs.length, "run")].join(" · ");
}

/** RW1 */
export function keyOf({ kind, of }: Target): string {
  return `${kind} ${of.id}`;
}

export function targetOf(lists: Lists, key: string | undefined): Target | undefined {
  const targets: Target[] = [
    ...openOf(lists).map((of) => ({ kind: "prompt", of }) as const),
    ...lists.agents.map((of) => ({ kind: "agent", of }) as const),
    ...lists.terminals.map((of) => ({ kind: "terminal", of }) as const),
    ...lists.runs.map((of) => ({ kind: "run", of }) as const),
  ];
  return targets.find((target) => keyOf(target) === key);
}

/** The longest waiting first: a new one comes last, and moves no other. */
function openOf({ prompts }: Lists): ListedPrompt[] {
  return prompts.filter(({ state }) => state === "open").toSorted((a, b) => a.since.localeCompare(b.since));
}

function liveFirst<T>(all: readonly T[], isLive: (one: T) => boolean): T[] {
  return [...all.filter(isLive), ...all.filter((one) => !isLive(one))];
}

const isRunning = ({ state }: BriefTerminal) => state.kind !== "ended";
const isGoing = ({ state }: ListedRun) => !state.startsWith("done") && state !== "cancelled";

function rowOf(target: Target, ...cells: readonly string[]): Row {
  return { key: keyOf(target), target, cells };
}

function promptRow(of: ListedPrompt, zone: Zone): Row {
  return rowOf({ kind: "prompt", of }, of.name, of.tool, clock(zone, of.since), inputLines(of.input).join(" "));
}

function agentRows(agents: readonly ListedAgent[], zone: Zone): Row[] {
  const live = agents.filter(({ state }) => state !== "terminated");
  const drawn = treeOf(live).flatMap((root) => linesOf(root, "", ""));
  return drawn.map(({ drawn: name, row }) => {
    const of = live.find(({ id }) => id === row.id) ?? row;
    return rowOf({ kind: "agent", of }, name, of.state, of.provider, noteOf(of, zone));
  });
}

function noteOf({ note, failure, inbox }: ListedAgent, zone: Zone): string {
  const failed = failure === undefined ? [] : [`turn ${failure.turn} failed: ${failure.reason}`];
  const unread = inbox === 0 ? [] : [`${count(inbox, "message")} unread`];
  return localTimes(zone, [...unread, ...(note === null ? failed : [note])].join("; "));
}

function terminalRow(of: BriefTerminal): Row {
  const program = of.agent === undefined ? of.recipe.argv.join(" ") : agentText(of);
  return rowOf({ kind: "terminal", of }, of.name, terminalState(of), program, of.recipe.cwd);
}

function runRow(of: ListedRun): Row {
  return rowOf({ kind: "run", of }, of.name, shortId(of.id), runState(of));
}

/** The hour and the minute. An age would change while nothing happens. */
function clock(zone: Zone, at: string): string {
  return localTime(zone, at).slice(11, 16);
}

/** What is known about one of them, except for the input of a prompt (prompt-block.ts). */
export function detailsOf(target: Target, zone: Zone): string[] {
  const lines = detailLines(target);
  return lines.filter(([, text]) => text !== "").map(([name, text]) => `${name.padEnd(11)}${localTimes(zone, text)}`);
}

function detailLines(target: Target): (readonly [name: string, text: string])[] {
  const { kind, of } = target;
  if (kind === "prompt") return [];
  if (kind === "agent") return agentLines(of);
  if (kind === "terminal") return terminalLines(of);
  return runLines(of);
}

function agentLines(of: ListedAgent): (readonly [string, string])[] {
  return [
    ["agent", `${of.name} (${shortId(of.id)})`],
    ["state", `${of.state}, ${count(of.turns, "turn")}${of.inbox === 0 ? "" : `, ${of.inbox} unread`}`],
    ["provider", [of.provider, of.model ?? ""].join(" ").trim()],
    ["directory", of.cwd],
    ["note", of.note ?? ""],
    ["failed", of.failure === undefined ? "" : `turn ${of.failure.turn} at ${of.failure.at}: ${of.failure.reason}`],
    ["asks", of.prompts.map(({ tool }) => tool).join(", ")],
    ["see", `holdfast agent follow ${of.name}`],
  ];
}

function terminalLines(of: BriefTerminal): (readonly [string, string])[] {
  return [
    ["terminal", `${of.name} (${shortId(of.id)}) in the lane ${of.lane}`],
    ["state", terminalState(of)],
    ["program", of.recipe.argv.join(" ")],
    ["agent", of.agent === undefined ? "" : agentText(of)],
    ["directory", of.recipe.cwd],
    ["since", of.createdAt],
    ["waits", of.state.kind === "uncertain" ? `${of.state.reason}: holdfast restore ${of.name}` : ""],
    ["trouble", of.trouble ?? ""],
  ];
}

function runLines(of: ListedRun): (readonly [string, string])[] {
  return [
    ["run", `${of.name} (${shortId(of.id)})`],
    ["state", runState(of)],
    ["file", of.path],
    ["since", of.startedAt],
    ...of.needs.map((need) => ["needs", `${need.step}: ${need.why}: ${nextOf(of.id, need)}`] as const),
    ["failed", of.error === null ? "" : `${of.error.step}: ${of.error.message}: holdfast resume ${shortId(of.id)}`],
    ["trouble", of.trouble ?? ""],
  ];
}

/** What a message calls it. */
export function nameOf({ kind, of }: Target): string {
  return plainLine(kind === "prompt" ? `${of.tool} of ${of.name}` : `${kind} ${of.name}`);
}

/** What a message to it reaches, and what an interrupt stops: of a prompt, its agent. */
export function receiverOf(target: Target): string {
  return target.kind === "prompt" ? plainLine(`agent ${target.of.name}`) : nameOf(target);
}
