// What a crash of the daemon, or of the machine, leaves of agents, and how they go on.
import { expect, test } from "bun:test";
import { itemsOf } from "../../src/base/vector.ts";
import { storedOf } from "../../src/core/agent/checkpoint.ts";
import { putAway } from "../../src/core/agent/conversation.ts";
import { agentEventOf, residentOf } from "../../src/wire/agents/stored-agent.ts";
import { CHILD, House } from "./house.ts";

/** A root and its child, both in mid-turn; then the daemon dies. */
function crashed(settings = {}): House {
  const house = new House();
  house.create("root");
  house.create("kid", { parent: "root", settings });
  for (const id of ["root", "kid"]) {
    house.send(id, `${id}1`);
    house.start(id);
  }
  const next = house.replayed();
  for (const id of ["root", "kid"]) next.do({ kind: "detach", id });
  return next;
}

test("AG-4(a,b) after replay no session is active; one whose holder lives is adopted and goes on where it was", () => {
  const house = crashed();
  expect([...house.residents.keys()].map((id) => house.agent(id).session.kind)).toEqual(["suspended", "suspended"]);
  expect(house.do({ kind: "detach", id: "root" })).toEqual([]);
  expect(house.effects("root")).toEqual([]);
  house.do({ kind: "adopted", id: "root", generation: 1, child: CHILD, holder: 8 });
  expect([house.agent("root").session.kind, house.state("root")]).toEqual(["active", "working"]);
  expect(house.done("root")).toContain("turn.complete root");
});

test("AG-7(a,b) after a machine crash a root goes on by itself, with the recovery prompt, in the same turn", () => {
  const house = crashed();
  expect(house.ends("root", null)).toEqual(["process.ended root", "session.restored root", "process.starting root"]);
  expect(house.agent("root").crashes).toEqual([]);
  expect(house.agent("root").turn?.prompt.text).toContain("You were interrupted");
  house.start("root");
  house.done("root");
  expect(house.agent("root").turns).toBe(1);
});

test("AG-7(b) a child goes on when its parent needs it: the parent is told, and its message releases the child", () => {
  const house = crashed();
  expect(house.ends("kid", null)).toEqual([
    ...["process.ended kid", "agent.held kid", "message.sent kid", "message.enqueued root"],
  ]);
  expect([house.state("kid"), house.agent("root").inbox[0]?.kind]).toEqual(["suspended", "child.suspended"]);
  house.call("root", "c1", "send_message", { to: "kid", text: "go on" });
  expect([house.state("kid"), house.agent("kid").generation]).toEqual(["working", 2]);
});

test("AG-7(b) a child that has a message of its parent to read is needed already", () => {
  const house = crashed();
  house.call("root", "c1", "send_message", { to: "kid", text: "hurry" });
  expect(house.ends("kid", null)).toContain("process.starting kid");
});

test("AG-7(b) policies: auto goes on, ask waits for a person, never for a retry", () => {
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

test("AG-3(c) AG-7(c) pending = enqueued − delivered: what was not taken is in the inbox again, and a reply B gave reaches A", () => {
  const house = new House();
  house.create("a");
  house.create("b", { parent: "a" });
  house.send("b", "m1", "question");
  house.start("b");
  house.call("b", "c1", "send_message", { to: "parent", text: "the answer" });
  const next = house.replayed();
  expect([next.agent("a").inbox.map(({ payload }) => payload), next.agent("b").inbox]).toEqual([["the answer"], []]);
  next.do({ kind: "detach", id: "a" });
  next.ends("a", null);
  next.start("a");
  expect(next.agent("a").inbox).toEqual([]);
});

test("AG-6(b) AG-7(b) a bare LLM that was interrupted asks again, with the same conversation; only ask and never hold it", () => {
  const house = new House();
  house.create("a", { provider: "openai" });
  house.send("a", "m1", "hello");
  const next = house.replayed();
  expect(next.do({ kind: "detach", id: "a" })).toEqual(["suspend.result a", "session.restored a"]);
  expect(next.effects("a")).toEqual([{ kind: "ask", id: "a", turn: 1, request: 1 }]);
  const said = (of: House) => [...itemsOf(of.agent("a").conversation.said)];
  expect(said(next)).toEqual(said(house));
  expect(said(next)).toMatchObject([{ role: "user" }]);
  next.do({ kind: "set", id: "a", settings: { recovery: "ask" } });
  expect(next.do({ kind: "detach", id: "a" })).toEqual(["suspend.result a", "agent.held a"]);
  expect([next.state("a"), next.effects("a")]).toEqual(["suspended", []]);
});

test("EL-5 a suspension says how long what its provider goes on from is: its blob, or all that a bare LLM has said", () => {
  const house = new House();
  house.create("cli");
  house.create("bare", { provider: "openai" });
  house.send("bare", "m1", "grüße");
  house.says("bare", { kind: "done", response: "ja" });
  house.send("bare", "m2", "more");
  house.send("cli", "m3");
  house.start("cli");
  const next = house.replayed();
  for (const id of ["cli", "bare"]) next.do({ kind: "detach", id });
  const sizes = next.events.flatMap(({ event, data }) => (event === "suspend.result" ? data.state_size : []));
  const pieces = itemsOf(house.agent("bare").conversation.said).map((piece) =>
    Buffer.byteLength(JSON.stringify(piece)),
  );
  expect(pieces).toHaveLength(3);
  expect(sizes).toEqual([
    Buffer.byteLength(`{"session":"${house.agent("cli").providerSession}"}`),
    pieces.reduce((sum, bytes) => sum + bytes, 0),
  ]);
});

test("AG-4(a) nothing begins while recovery goes on: the house is paused, and then scheduled once", () => {
  const house = crashed();
  house.settings = { ...house.settings, paused: true };
  house.ends("root", null);
  expect([house.agent("root").session.kind, house.effects("root")]).toEqual(["suspended", []]);
  house.settings = { ...house.settings, paused: false };
  expect(house.do({ kind: "schedule", id: "root" })).toEqual(["session.restored root", "process.starting root"]);
});

test("EL-1(c) every event that was stored is read back as it was, with fields we do not know, and not without its own", () => {
  const house = crashed();
  for (const { event, id, data } of house.events) {
    const stored = { session_id: id, event, data: { ...data, added_later: 1 } };
    expect(agentEventOf(stored)).toEqual(JSON.parse(JSON.stringify({ event, id, data: stored.data })));
  }
  expect(agentEventOf({ session_id: "a", event: "agent.danced", data: {} })).toBeUndefined();
  expect(() => agentEventOf({ session_id: "a", event: "turn.start", data: { turn: 1 } })).toThrow("has no prompt");
});

test("a checkpointed agent folds on as the agent itself would", () => {
  const house = new House();
  house.create("a", { provider: "openai", instructions: "go" });
  house.says("a", { kind: "done", response: "gone" });
  house.do({
    kind: "rule-add",
    id: "rules",
    rule: { rule_id: "r", decision: "allow", tool: "*", args: {}, message: "" },
  });
  for (const resident of house.residents.values()) {
    const back = residentOf(JSON.parse(JSON.stringify(storedOf(resident))));
    if (resident.kind === "agent") expect(back).toEqual({ ...resident, conversation: putAway(resident.conversation) });
    else expect(back).toEqual(resident);
  }
  expect([residentOf({ version: 0, resident: {} }), residentOf("x")]).toEqual([undefined, undefined]);
});

test("EL-5 the nine events of the document have its fields", () => {
  const house = crashed();
  house.ends("root", null);
  house.start("root");
  house.done("root");
  house.do({ kind: "terminate", id: "root", reason: "enough" });
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
    const found = house.events.find(({ event }) => event === name);
    expect({ name, has: Object.keys(found?.data ?? {}) }).toEqual({ name, has: expect.arrayContaining([...of]) });
  }
});
