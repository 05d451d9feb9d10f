// The records that agent CLIs keep of their conversations, as far as they tell what one is doing. They are the files of
// other programs and of no documented format: docs/TERMINALS.md has the versions that this was tried with.
// AR1. A record that cannot be read says nothing; it never makes us fail. Ids are checked before they are used: they
//      become words of a command line.
// AR2. Of a long file only the end is read (`tail`). Its first line may be torn.
// AR3. A turn that another process began, before this one was started, is over: it was interrupted.
import { jsonIn } from "../base/json.ts";
import type { AgentState, Conversation } from "../core/terminal/agent-in-front.ts";
import type { AgentName } from "../core/terminal/agent-names.ts";
import { isSession } from "../core/terminal/coding-agent.ts";
import { fitting } from "./check.ts";
import { isObject } from "./lines.ts";
import { count, list, nullable, object, optional, type Shape, text } from "./shape.ts";

/** `startTime`: of the process, in the unit of world/process.ts; undefined in versions that do not write it. */
export type ClaudeProcess = Conversation & { readonly pid: number; readonly startTime: number | undefined };

const CLAUDE = object({
  ...{ pid: count, sessionId: text },
  ...{ status: optional(text), version: optional(text), procStart: optional(text) },
});
const CLAUDE_STATES: Readonly<Record<string, AgentState>> = { busy: "working", waiting: "waiting", idle: "idle" };

/** `sessions/PID.json` of Claude Code: it says which conversation a process is in, and what it does. */
export function claudeProcess(record: string): ClaudeProcess | undefined {
  const found = fitting(CLAUDE, jsonIn(record));
  if (found === undefined || !isSession("claude", found.sessionId)) return undefined; // AR1
  const { pid, sessionId: id, status = "", version, procStart } = found;
  const state = Object.hasOwn(CLAUDE_STATES, status) ? CLAUDE_STATES[status] : undefined;
  const startTime = procStart === undefined ? undefined : Number(procStart);
  return { pid, id, startTime, state: state ?? "unknown", ...(version !== undefined && { version }) };
}

/** The state that the end of a conversation's file shows, of a process that was started at `sinceMs`. */
export function stateAtEnd(name: AgentName, tail: string, sinceMs: number): AgentState {
  const judge = name === "codex" ? codexState : name === "gemini" ? geminiState : () => undefined;
  const lines = tail.split("\n").reverse();
  for (const line of lines) {
    const record = jsonIn(line);
    const state = isObject(record) ? judge(record) : undefined;
    if (state !== undefined && isObject(record)) return isOld(record["timestamp"], sinceMs) ? "idle" : state;
  }
  return name === "codex" ? "working" : "unknown"; // A turn of codex ends with its mark, however long it is.
}

/** AR3 */
function isOld(timestamp: unknown, sinceMs: number): boolean {
  return typeof timestamp === "string" && Date.parse(timestamp) < sinceMs;
}

type Fields = Readonly<Record<string, unknown>>;

/** codex marks the start and the end of a turn. Questions to a person are not in its file. */
function codexState({ type, payload }: Fields): AgentState | undefined {
  const mark = type === "event_msg" && isObject(payload) ? payload["type"] : undefined;
  if (mark === "task_started") return "working";
  return mark === "task_complete" || mark === "turn_aborted" ? "idle" : undefined;
}

/**
 * gemini records a tool call when it is over: an answer without text is one that called a tool, which may be waiting
 * for a person.
 */
function geminiState({ type, content, toolCalls }: Fields): AgentState | undefined {
  if (type === "user") return "working";
  if (type === "error") return "idle";
  if (type !== "gemini") return undefined;
  return content === "" || toolCalls !== undefined ? "working" : "idle";
}

/** A row of opencode's database, made by OPENCODE_QUERY: a conversation and the last message in it. */
export type OpencodeRow = {
  readonly id: string;
  readonly version: string;
  readonly role: string | null;
  readonly finish: string | null;
  readonly completed: number | null;
  readonly at: number | null;
};

/** Parameters: a directory, and the time in ms since when they were written to. Those of subagents are left out. */
export const OPENCODE_QUERY = `
  SELECT s.id, s.version, m.time_created AS at, json_extract(m.data, '$.role') AS role, json_extract(m.data, '$.finish') AS finish,
    coalesce(json_extract(m.data, '$.time.completed'), iif(json_extract(m.data, '$.error') IS NULL, NULL, 1)) AS completed
  FROM session s LEFT JOIN message m ON m.id =
    (SELECT id FROM message WHERE session_id = s.id ORDER BY time_created DESC, id DESC LIMIT 1)
  WHERE s.directory = ?1 AND s.parent_id IS NULL AND s.time_updated >= ?2
  ORDER BY s.time_updated DESC LIMIT 20`;

const ROWS: Shape<readonly OpencodeRow[]> = list(
  object({
    id: text,
    version: text,
    role: nullable(text),
    finish: nullable(text),
    completed: nullable(count),
    at: nullable(count),
  }),
);

/** AR1 */
export function opencodeConversations(rows: unknown, sinceMs: number): readonly Conversation[] | undefined {
  return fitting(ROWS, rows)
    ?.filter(({ id }) => isSession("opencode", id))
    .map(({ id, version, ...last }) => ({
      ...{ id, version },
      state: (last.at ?? 0) < sinceMs ? "idle" : opencodeState(last), // AR3
    }));
}

/** An answer that called a tool is followed by another. Questions to a person are not in its database. */
function opencodeState({ role, finish, completed }: Omit<OpencodeRow, "id" | "version">): AgentState {
  if (role === null) return "idle";
  return role === "assistant" && completed !== null && finish !== "tool-calls" ? "idle" : "working";
}
