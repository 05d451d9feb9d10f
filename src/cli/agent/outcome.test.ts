import { expect, test } from "bun:test";
import type { AgentEvent } from "../../core/agent/events.ts";
import { MessageWatch, type Outcome } from "./outcome.ts";

const at = "2026-01-02T03:04:05.678Z";
const enqueued = (message_id: string): AgentEvent => ({
  event: "message.enqueued",
  id: "a",
  data: {
    ...{ message_id, sender: "user", recipient: "a", kind: "message", payload: "", timestamp: at, reply_to: null },
    metadata: {},
  },
});
const start = (turn: number, ...messages: string[]): AgentEvent => ({
  event: "turn.start",
  id: "a",
  data: { turn, prompt: "", messages, uuid: "u", at },
});
const complete = (turn: number): AgentEvent => ({
  event: "turn.complete",
  id: "a",
  data: { turn, response: `answer ${turn}`, at },
});
const failed = (turn: number): AgentEvent => ({ event: "turn.failed", id: "a", data: { turn, reason: "no", at } });
const delivered = (message_id: string): AgentEvent => ({ event: "message.delivered", id: "a", data: { message_id } });
const opened = (prompt_id: string): AgentEvent => ({
  event: "prompt.opened",
  id: "a",
  data: {
    ...{ prompt_id, generation: 1, request: "r", tool: "Bash", input: null, options: null, since: at, deadline: at },
    expires: { decision: "deny", refreshable: true },
  },
});
const answered = (prompt_id: string): AgentEvent => ({
  event: "prompt.answered",
  id: "a",
  data: { prompt_id, decision: "allow", by: "rule", message: "", at },
});
const dropped = (message_id: string): AgentEvent => ({ event: "message.dropped", id: "a", data: { message_id, at } });
const held: AgentEvent = { event: "agent.held", id: "a", data: { reason: "it must be", at } };
const released: AgentEvent = { event: "agent.released", id: "a", data: { at } };

function after(events: readonly AgentEvent[], open: readonly string[] = []): Outcome | undefined {
  const watch = new MessageWatch("m", open);
  for (const event of events) watch.note(event);
  return watch.outcome;
}

test("the answer comes from the turn that took the message", () => {
  expect(after([start(1, "other"), enqueued("m"), complete(1)])).toBeUndefined();
  expect(after([enqueued("m"), complete(1), start(2, "m")])).toBeUndefined();
  const whole = [enqueued("m"), complete(1), start(2, "m"), complete(2), start(3), complete(3)];
  expect(after(whole)).toEqual({ kind: "complete", turn: 2, response: "answer 2" });
  expect(after([enqueued("m"), start(2, "m"), failed(2)])).toEqual({ kind: "failed", turn: 2, reason: "no" });
});

test("a message taken by check_inbox is answered by the running turn", () => {
  expect(after([enqueued("m"), delivered("m"), complete(1)])).toEqual({
    kind: "complete",
    turn: 1,
    response: "answer 1",
  });
});

test("an open prompt needs a person, even if it was open before; one that a rule answered does not", () => {
  expect(after([enqueued("m"), opened("p")])).toEqual({ kind: "asks", prompts: ["p"] });
  expect(after([enqueued("m")], ["q"])).toEqual({ kind: "asks", prompts: ["q"] });
  expect(after([opened("p")])).toBeUndefined();
  expect(after([enqueued("m"), opened("p"), answered("p")])).toBeUndefined();
});

test("an agent that is held, crashed or terminated does not continue; a released one does", () => {
  expect(after([enqueued("m"), held])).toEqual({ kind: "held", reason: "it must be" });
  expect(after([enqueued("m"), held, released])).toBeUndefined();
  const crashed: AgentEvent = { event: "agent.crashed", id: "a", data: { reason: "5 times", at } };
  expect(after([enqueued("m"), crashed])).toEqual({ kind: "crashed", reason: "5 times" });
  expect(after([crashed, enqueued("m")])).toBeUndefined();
  const ended = { agent_id: "a", reason: "enough", by: "user", at } as const;
  expect(after([enqueued("m"), { event: "agent.terminated", id: "a", data: ended }])).toEqual({
    kind: "terminated",
    reason: "enough",
  });
});

test("a message that a person drops has no answer; another one that is dropped is none of its concern", () => {
  expect(after([enqueued("m"), dropped("m")])).toEqual({ kind: "dropped" });
  expect(after([enqueued("m"), dropped("other")])).toBeUndefined();
});
