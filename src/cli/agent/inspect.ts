// `holdfast agent inspect` and `holdfast agent inbox`: one agent in full, and its unread messages.
// AI1. Only rows of ours begin at the left edge: those of a text, also if it is wider than the window, are indented.

import { localTime, localTimes } from "../../base/local-time.ts";
import { ok, type Result } from "../../base/result.ts";
import { visibleLine, visibleProse } from "../../base/visible.ts";
import type { AgentSettings, Message } from "../../core/agent/events.ts";
import { senderName } from "../../core/agent/messages.ts";
import { usageText } from "../../core/agent/usage.ts";
import type { ShownAgent } from "../../wire/rpc/agent.ts";
import { allRows } from "../../wire/rpc/page.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { count, printJson, say, wrapped } from "../print.ts";
import { tableText } from "../table.ts";
import { lookAtAgent } from "./find.ts";
import { MIN_COLUMNS, type RowView, rowView } from "./prompt-block.ts";
import { noteText, rowOf, spanText } from "./row.ts";
import { ruleText } from "./rules.ts";
import { fetching, workspaceLines } from "./workspace.ts";

/** One column after the longest name. */
const INDENT = 12;

async function inspect(world: DaemonCommandWorld, flags: DataFlags, key: string): Promise<Exit> {
  const shown = await lookAtAgent<ShownAgent>(world, flags, key, (client, { id }) => client.call("agent.show", { id }));
  if (!shown.ok) return shown;
  const { console, clock } = world;
  if (flags.json) await printJson(console, { ...shown.value, ...rowOf(shown.value) });
  else await console.out.write(textOf(shown.value, clock.now(), rowView(console, console.out)));
  return ok(EXIT.ok);
}

function textOf(agent: ShownAgent, now: number, view: RowView): string {
  const { turnStartedAt, turns, prompts, inbox, reminders, rules } = agent;
  const since = turnStartedAt === null ? "" : `, the current one for ${spanText(now - Date.parse(turnStartedAt))}`;
  const lines: readonly (readonly [string, string | null])[] = [
    ["agent", `${agent.name} (${agent.id})`],
    ["parent", agent.parent],
    ["state", [agent.state, localTimes(view, noteText(agent))].filter((part) => part !== "").join(": ")],
    ["provider", [agent.provider, agent.model, agent.permissionMode].filter((part) => part !== null).join(", ")],
    ["command", [...agent.command, ...agent.flags].join(" ") || null],
    ["session", agent.session],
    ["directory", agent.cwd],
    ...workspaceLines(agent),
    ["its commits", agent.workspace?.clone === undefined ? null : fetching(agent.name)],
    ["process", agent.pid === null ? null : `pid ${agent.pid}`],
    ["turns", `${turns}${since}`],
    ["used", agent.usage === undefined ? null : usageText(agent.usage)],
    ["inbox", count(inbox, "message")],
    ...prompts.map(({ id }) => ["asks you", `holdfast answer ${id} allow|deny`] as const),
    ...settingLines(agent.settings),
    ...reminders.map(({ due, text }) => ["reminder", `${localTime(view, due)} ${text}`] as const),
    ...rules.map((rule) => ["rule", `${rule.rule_id}: ${rule.decision} ${ruleText(rule)}`] as const),
    ["told", agent.instructions || null],
    ["said", agent.lastText || null],
    ["result", agent.result],
  ];
  return lines
    .map(([name, value]) => (value === null ? "" : `${name.padEnd(INDENT)}${hanging(value, view)}\n`))
    .join("");
}

function settingLines(settings: AgentSettings): (readonly [string, string])[] {
  const { recovery, hung_after_ms, prompt_ttl_ms, prompt_default, sleep_on_limit } = settings;
  const unattended =
    prompt_default === null
      ? ""
      : `, ${prompt_default.decision} after ${spanText(prompt_default.after_ms)} without an answer`;
  return [
    ["recovery", recovery],
    ["hung after", `${spanText(hung_after_ms)} of silence in a turn`],
    ["prompts", `denied after ${spanText(prompt_ttl_ms)} without hearing from you${unattended}`],
    ["at a limit", sleep_on_limit ? "sleeps until it ends" : "the turn fails"],
  ];
}

/** AI1 */
function hanging(text: string, { columns, widthOf }: RowView): string {
  const room = Math.max(columns - INDENT, MIN_COLUMNS);
  const rows = text.split("\n").flatMap((line) => wrapped(visibleProse(line), room, widthOf));
  return rows.join(`\n${" ".repeat(INDENT)}`);
}

async function inbox(world: DaemonCommandWorld, flags: DataFlags, key: string): Promise<Exit> {
  const messages: Result<readonly Message[]> = await lookAtAgent(world, flags, key, (client, { id }) =>
    allRows(client, "agent.inbox", { id }),
  );
  if (!messages.ok) return messages;
  const { console } = world;
  if (flags.json) await printJson(console, messages.value);
  else if (messages.value.length === 0) await say(console, "there are no unread messages.");
  else await console.out.write(inboxText(world, messages.value));
  return ok(EXIT.ok);
}

function inboxText({ console }: DaemonCommandWorld, messages: readonly Message[]): string {
  const rows = messages.map((message) => {
    const { message_id, kind, timestamp, payload } = message;
    return [localTime(console, timestamp), message_id, kind, senderName(message), payload].map(visibleLine);
  });
  return tableText(console, [["SENT", "ID", "KIND", "FROM", "TEXT"], ...rows]);
}

export const inspectCommand = withDaemonWorld(inspect);
export const inboxCommand = withDaemonWorld(inbox);
