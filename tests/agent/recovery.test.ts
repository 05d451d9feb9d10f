// What a crash of the daemon or the machine leaves of agents, and how they continue.
import { expect, test } from "bun:test";
import { itemsOf } from "../../src/base/vector.ts";
import { storedOf } from "../../src/core/agent/checkpoint.ts";
import { putAway } from "../../src/core/agent/conversation.ts";
import { agentEventOf, residentOf } from "../../src/wire/stored/agent.ts";
import { AgentFixture, CHILD } from "./house.ts";

/** A root and its child, both in the middle of a turn; then the daemon dies. */
function crashed(settings = {}): AgentFixture {
  const fixture = new AgentFixture();
  fixture.create("root");
  fixture.create("kid", { parent: "root", settings });
  for (const id of ["root", "kid"]) {
    fixture.send(id, `${id}1`);
    fixture.start(id);
  }
  const next = fixture.replayed();
  for (const id of ["root", "kid"]) next.do({ kind: "detach", id });
  return next;
}

test("AG-4(a,b) after replay no session is active; one whose holder lives is adopted and continues", () => {
  const fixture = crashed();
  expect([...fixture.agentRecords.keys()].map((id) => fixture.agent(id).session.kind)).toEqual([
    "suspended",
    "suspended",
  ]);
  expect(fixture.do({ kind: "detach", id: "root" })).toEqual([]);
  expect(fixture.effects("root")).toEqual([]);
  fixture.do({ kind: "adopted", id: "root", generation: 1, child: CHILD, holder: 8 });
  expect([fixture.agent("root").session.kind, fixture.state("root")]).toEqual(["active", "working"]);
  expect(fixture.done("root")).toContain("turn.complete root");
});

test("AG-7(a,b) after a machine crash a root continues by itself, with the recovery prompt, in the same turn", () => {
  const fixture = crashed();
  expect(fixture.ends("root", null)).toEqual(["process.ended root", "session.restored root", "process.starting root"]);
  expect(fixture.agent("root").crashes).toEqual([]);
  expect(fixture.agent("root").turn?.prompt.text).toContain("You were interrupted");
  fixture.start("root");
  fixture.done("root");
  expect(fixture.agent("root").turns).toBe(1);
});

test("AG-7(b) a child continues when its parent needs it: the parent is notified, and its message releases the child", () => {
  const fixture = crashed();
  expect(fixture.ends("kid", null)).toEqual([
    ...["process.ended kid", "agent.held kid", "message.sent kid", "message.enqueued root"],
  ]);
  expect([fixture.state("kid"), fixture.agent("root").inbox[0]?.kind]).toEqual(["suspended", "child.suspended"]);
  fixture.call("root", "c1", "send_message", { to: "kid", text: "go on" });
  expect([fixture.state("kid"), fixture.agent("kid").generation]).toEqual(["working", 2]);
});

test("AG-7(b) a child with an unread message from its parent is already needed", () => {
  const fixture = crashed();
  fixture.call("root", "c1", "send_message", { to: "kid", text: "hurry" });
  expect(fixture.ends("kid", null)).toContain("process.starting kid");
});

test("AG-7(b) policies: auto continues, ask waits for a person, never for a retry", () => {
  expect(crashed({ recovery: "auto" }).ends("kid", null)).toContain("process.starting kid");
  const ask = crashed({ recovery: "ask" });
  ask.ends("kid", null);
  ask.call("root", "c1", "send_message", { to: "kid", text: "go on" });
  expect([ask.state("kid"), ask.agent("root").inbox.length]).toEqual(["suspended", 0]);
  ask.send("kid", "m2");
  expect(ask.state("kid")).toBe("working");
  const never = crashed({ recovery: "never" });
  never.ends("kid", null);
  never.send("kid", "m2");
  expect(never.state("kid")).toBe("suspended");
  never.do({ kind: "retry", id: "kid" });
  expect(never.state("kid")).toBe("working");
});

test("AG-3(c) AG-7(c) pending = enqueued − delivered: undelivered messages are in the inbox again, and a reply from B reaches A", () => {
  const fixture = new AgentFixture();
  fixture.create("a");
  fixture.create("b", { parent: "a" });
  fixture.send("b", "m1", "question");
  fixture.start("b");
  fixture.call("b", "c1", "send_message", { to: "parent", text: "the answer" });
  const next = fixture.replayed();
  expect([next.agent("a").inbox.map(({ payload }) => payload), next.agent("b").inbox]).toEqual([["the answer"], []]);
  next.do({ kind: "detach", id: "a" });
  next.ends("a", null);
  next.start("a");
  expect(next.agent("a").inbox).toEqual([]);
});

test("AG-6(b) AG-7(b) an interrupted bare LLM asks again, with the same conversation; only ask and never hold it", () => {
  const fixture = new AgentFixture();
  fixture.create("a", { provider: "openai" });
  fixture.send("a", "m1", "hello");
  const next = fixture.replayed();
  expect(next.do({ kind: "detach", id: "a" })).toEqual(["suspend.result a", "session.restored a"]);
  expect(next.effects("a")).toEqual([{ kind: "ask", id: "a", turn: 1, request: 1 }]);
  const said = (of: AgentFixture) => [...itemsOf(of.agent("a").conversation.said)];
  expect(said(next)).toEqual(said(fixture));
  expect(said(next)).toMatchObject([{ role: "user" }]);
  next.do({ kind: "set", id: "a", settings: { recovery: "ask" } });
  expect(next.do({ kind: "detach", id: "a" })).toEqual(["suspend.result a", "agent.held a"]);
  expect([next.state("a"), next.effects("a")]).toEqual(["suspended", []]);
});

test("EL-5 a suspension records the size of the state its provider resumes from: its blob, or the whole conversation of a bare LLM", () => {
  const fixture = new AgentFixture();
  fixture.create("cli");
  fixture.create("bare", { provider: "openai" });
  fixture.send("bare", "m1", "grüße");
  fixture.says("bare", { kind: "done", response: "ja" });
  fixture.send("bare", "m2", "more");
  fixture.send("cli", "m3");
  fixture.start("cli");
  const next = fixture.replayed();
  for (const id of ["cli", "bare"]) next.do({ kind: "detach", id });
  const sizes = next.events.flatMap(({ event, data }) => (event === "suspend.result" ? data.state_size : []));
  const pieces = itemsOf(fixture.agent("bare").conversation.said).map((piece) =>
    Buffer.byteLength(JSON.stringify(piece)),
  );
  expect(pieces).toHaveLength(3);
  expect(sizes).toEqual([
    Buffer.byteLength(`{"session":"${fixture.agent("cli").providerSession}"}`),
    pieces.reduce((sum, bytes) => sum + bytes, 0),
  ]);
});

test("AG-4(a) nothing begins during recovery: the house is paused, and then scheduled once", () => {
  const fixture = crashed();
  fixture.settings = { ...fixture.settings, paused: true };
  fixture.ends("root", null);
  expect([fixture.agent("root").session.kind, fixture.effects("root")]).toEqual(["suspended", []]);
  fixture.settings = { ...fixture.settings, paused: false };
  expect(fixture.do({ kind: "schedule", id: "root" })).toEqual(["session.restored root", "process.starting root"]);
});

test("EL-1(c) every stored event is read back unchanged, including unknown fields, and is rejected without its own fields", () => {
  const fixture = crashed();
  for (const { event, id, data } of fixture.events) {
    const stored = { session_id: id, event, data: { ...data, added_later: 1 } };
    expect(agentEventOf(stored)).toEqual(JSON.parse(JSON.stringify({ event, id, data: stored.data })));
  }
  expect(agentEventOf({ session_id: "a", event: "agent.danced", data: {} })).toBeUndefined();
  expect(() => agentEventOf({ session_id: "a", event: "turn.start", data: { turn: 1 } })).toThrow("has no prompt");
});

test("folding continues from a checkpointed agent exactly as from the agent itself", () => {
  const fixture = new AgentFixture();
  fixture.create("a", { provider: "openai", instructions: "go" });
  fixture.says("a", { kind: "done", response: "gone" });
  fixture.do({
    kind: "rule-add",
    id: "rules",
    rule: { rule_id: "r", decision: "allow", tool: "*", args: {}, message: "" },
  });
  for (const agentRecord of fixture.agentRecords.values()) {
    const back = residentOf(JSON.parse(JSON.stringify(storedOf(agentRecord))));
    if (agentRecord.kind === "agent")
      expect(back).toEqual({ ...agentRecord, conversation: putAway(agentRecord.conversation) });
    else expect(back).toEqual(agentRecord);
  }
  expect([residentOf({ version: 0, resident: {} }), residentOf("x")]).toEqual([undefined, undefined]);
});

test("EL-5 the nine events of the specification have its fields", () => {
  const fixture = crashed();
  fixture.ends("root", null);
  fixture.start("root");
  fixture.done("root");
  fixture.do({ kind: "terminate", id: "root", reason: "enough" });
  const fields: Readonly<Record<string, readonly string[]>> = {
    "session.created": ["provider", "model", "system_prompt"],
    "turn.start": ["prompt"],
    "turn.complete": ["response"],
    "suspend.result": ["state_size"],
    "session.restored": ["provider", "model"],
    "agent.created": ["agent_id", "name", "parent_session_id", "instructions"],
    "agent.terminated": ["agent_id"],
    "message.enqueued": [
      ...["message_id", "sender", "recipient", "kind", "payload", "timestamp", "reply_to", "metadata"],
    ],
    "message.delivered": ["message_id"],
  };
  for (const [name, of] of Object.entries(fields)) {
    const found = fixture.events.find(({ event }) => event === name);
    expect({ name, has: Object.keys(found?.data ?? {}) }).toEqual({ name, has: expect.arrayContaining([...of]) });
  }
});

test("AG-7(b) an agent whose files were left on another host is held, whatever its policy, until a person retries it", () => {
  const fixture = new AgentFixture();
  for (const id of ["busy", "idle"]) fixture.create(id);
  fixture.send("busy", "m1", "hello");
  fixture.start("busy");
  const next = fixture.replayed();
  const hold = "taken over from atlas; /worktrees/x is not on this host.";
  for (const id of ["busy", "idle"]) next.do({ kind: "detach", id, hold });
  next.ends("busy", null);
  for (const id of ["busy", "idle"]) expect([next.agent(id).held?.reason, next.effects(id)]).toEqual([hold, []]);
  expect(next.do({ kind: "detach", id: "busy", hold })).not.toContain("agent.held busy"); // Another start.
  next.do({ kind: "retry", id: "busy" });
  expect([next.agent("busy").held, next.agent("busy").turn?.number]).toEqual([undefined, 1]);
});
