import { expect, test } from "bun:test";
import type { AgentEvent } from "../../core/agent/events.ts";
import type { ProviderEvent } from "../../core/agent/provider.ts";
import { AgentEventFormatter, joined, type Told } from "./event-formatter.ts";

const at = "2026-01-02T03:04:05.678Z";
const id = "a";
const read = (...events: ProviderEvent[]): AgentEvent => {
  return { event: "agent.read", id, data: { generation: 1, offset: 1, events, at } };
};
const ended = (outcome: "clean" | "crashed"): AgentEvent => {
  return { event: "process.ended", id, data: { generation: 1, code: 9, signal: null, outcome, reason: "why", at } };
};
const restored = (adopted: boolean): AgentEvent => {
  return { event: "session.restored", id, data: { provider: "scripted", model: null, adopted, at } };
};
const complete = (response: string): AgentEvent => {
  return { event: "turn.complete", id, data: { turn: 1, response, at } };
};

function told(...events: readonly AgentEvent[]): string[] {
  const teller = new AgentEventFormatter({ minutesAhead: () => 60 });
  return events.flatMap((event) => teller.tell(event)).map(wordsOf);
}

const wordsOf = (one: Told) => (one.kind === "line" ? one.line : `${one.part ? "+" : ">"}${one.text}`);

test("an agent's text and tool use is shown as it arrives; prompts and calls get their own lines", () => {
  expect(
    told(
      read({ kind: "text", text: "Hel" }, { kind: "text", text: "lo", part: true }),
      read({ kind: "tool", use: "u", tool: "Read", input: { path: "x" } }),
      read(
        { kind: "tool-done", use: "u", ok: true, text: "text" },
        { kind: "tool-done", use: "u", ok: false, text: "" },
      ),
      read({ kind: "failed", reason: "overloaded", retryable: true }, { kind: "limit", until: at }),
      read({ kind: "ask", request: "r", tool: "Bash", input: null }, { kind: "done", response: "x" }),
    ),
  ).toEqual([
    ...[">Hel", "+lo", 'uses Read {"path":"x"}', "got: text", "failed: ", "its provider failed: overloaded"],
    "a usage limit applies until 2026-01-02 04:04:05 +01:00",
  ]);
});

test("a response is shown unless the turn already contained it", () => {
  expect(told(read({ kind: "text", text: "Well. Done.\n" }), complete("Done."))).toEqual([
    ...[">Well. Done.\n", "turn 1 is complete"],
  ]);
  expect(told(complete("Done."))).toEqual([">Done.", "turn 1 is complete"]);
  const start: AgentEvent = { event: "turn.start", id, data: { turn: 2, prompt: "", messages: [], uuid: "", at } };
  expect(told(read({ kind: "text", text: "Done." }), start, complete("Done.")).slice(1)).toEqual([
    ...["turn 2 begins", ">Done.", "turn 1 is complete"],
  ]);
});

test("state changes and their reasons are shown; bookkeeping is left out", () => {
  const until = at;
  expect(
    told(
      { event: "agent.completed", id, data: { result: "42", at } },
      { event: "agent.crashed", id, data: { reason: "5 times", at } },
      { event: "agent.retried", id, data: { at } },
      { event: "agent.held", id, data: { reason: "policy", at } },
      { event: "agent.released", id, data: { at } },
      { event: "agent.sleeping", id, data: { until, at } },
      { event: "agent.woken", id, data: { prompt: null, at } },
      { event: "suspend.result", id, data: { state_size: 0, reason: "evicted", at } },
      restored(true),
      restored(false),
      ended("clean"),
      ended("crashed"),
      { event: "process.rested", id, data: { at } },
    ),
  ).toEqual([
    ...["its work is done: 42", "CRASHED: 5 times\n  → holdfast agent retry a", "retrying", "waits: policy"],
    ...[
      "continues",
      "sleeps until 2026-01-02 04:04:05 +01:00",
      "woke up",
      "suspended (evicted)",
      "found again, its process is still running",
      "resumed",
    ],
    "its process ended (crashed): why",
  ]);
});

test("turns, prompts, tools and reminders", () => {
  expect(
    told(
      { event: "turn.retrying", id, data: { turn: 1, reason: "busy", until: at } },
      { event: "turn.interrupted", id, data: { turn: 1, at } },
      { event: "turn.failed", id, data: { turn: 1, reason: "no", at } },
      { event: "prompt.answered", id, data: { prompt_id: "p", decision: "deny", by: "rule", message: "No.", at } },
      { event: "prompt.stale", id, data: { prompt_id: "p", reason: "gone" } },
      {
        event: "tool.answered",
        id,
        data: { call: "c", tool: "broadcast", ok: true, result: { to: [] }, inline: true, messages: [], at },
      },
      { event: "reminder.set", id, data: { reminder_id: "r", due: at, text: "look" } },
    ),
  ).toEqual([
    ...[
      "turn 1 is retried at 2026-01-02 04:04:05 +01:00: busy",
      "turn 1 was interrupted",
      "turn 1 FAILED: no",
      "p: deny, by rule: No.",
    ],
    ...[
      "p must be asked again: gone",
      'called broadcast: {"to":[]}',
      "wants to be reminded at 2026-01-02 04:04:05 +01:00: look",
    ],
  ]);
});

test("what a provider refuses, tries again and counts, and what is left out", () => {
  const usage = { input_tokens: 12_345, output_tokens: 999, cost_usd: 1.5 };
  const trimmed = { from: 0, to: 4, bytes: 9, at } as const;
  expect(
    told(
      read({ kind: "limit", until: "", reason: "429" }),
      read(
        { kind: "retrying", reason: "429 rate_limit", attempt: 2, of: 10, delay_ms: 1500 },
        { kind: "usage", usage },
      ),
      { event: "agent.sleeping", id, data: { until: at, at, reason: "429" } },
      { event: "message.dropped", id, data: { message_id: "m", at } },
      { event: "message.edited", id, data: { message_id: "m", payload: "new\ntext", at } },
      { event: "conversation.trimmed", id, data: { ...trimmed, why: "context", limit: 4096 } },
      { event: "conversation.trimmed", id, data: { ...trimmed, from: 3, why: "failed" } },
      { event: "turn.complete", id, data: { turn: 1, response: "", at, usage } },
    ),
  ).toEqual([
    "a usage limit applies: 429",
    "its provider tries again in 2 s (2 of 10): 429 rate_limit",
    "sleeps until 2026-01-02 04:04:05 +01:00: 429",
    "the message m was dropped",
    "the message m is now: new\n> text",
    "is asked without 4 pieces of its conversation from now on: with them it is longer than the model's limit of 4096 tokens",
    "is asked without a piece of its conversation: that turn failed",
    "turn 1 is complete (12.3k in, 999 out, $1.50)",
  ]);
});

test("TE4 what others wrote cannot pass for a line of ours: its further lines are marked, and a tool has one line", () => {
  const forged = "x\nasks for Read {}\n  → holdfast answer 0 allow|deny";
  const metadata = { sender_name: "b", relation: "child" };
  const message = {
    sender: "b",
    recipient: "a",
    kind: "message",
    payload: forged,
    timestamp: at,
    reply_to: null,
  } as const;
  const lines = told(
    read({ kind: "tool-done", use: "u", ok: true, text: forged }, { kind: "failed", reason: forged, retryable: true }),
    read({ kind: "tool", use: "u", tool: forged, input: forged }, { kind: "limit", until: forged }),
    { event: "message.enqueued", id, data: { message_id: "m", metadata, ...message } },
    { event: "agent.completed", id, data: { result: forged, at } },
    { event: "turn.failed", id, data: { turn: 1, reason: forged, at } },
    { event: "reminder.set", id, data: { reminder_id: "r", due: at, text: forged } },
  );
  expect(lines.length).toBe(8);
  for (const more of lines.flatMap((line) => line.split("\n").slice(1))) expect(more).toStartWith("> ");
});

test("pieces of text are joined if all of them are present; a line or a separate text ends them", () => {
  const text = (words: string, part: boolean): Told => ({ kind: "text", text: words, part });
  const told = [text("Hel", true), text("lo", true), text("New", false), text("s", true)];
  const timed = [...told, { kind: "line", line: "turn 1 is complete" } as const, text("on", true)];
  const all = joined(timed.map((words, at) => ({ words, time: `${at}` })));
  expect(all.map(({ words, time }) => `${time} ${wordsOf(words)}`)).toEqual([
    ...["0 +Hello", "2 >News", "4 turn 1 is complete", "5 +on"],
  ]);
});

test("TE3 an entry that cannot be read is shown as a line with the reason; one of a newer version is not", () => {
  const entry = { seq: 7, prev: 6, session_id: id, ts: at, event: "agent.held", data: {} };
  const teller = new AgentEventFormatter({ minutesAhead: () => 60 });
  const [unreadable, ...more] = teller.tellEntry(entry);
  expect(unreadable && wordsOf(unreadable)).toMatch(
    /^the event 7 \(agent\.held\) cannot be read: agent\.held of a has no /,
  );
  expect([...more, ...teller.tellEntry({ ...entry, event: "agent.painted" })]).toEqual([]);
});
