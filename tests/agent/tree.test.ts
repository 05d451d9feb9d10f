// The tree of agents: who may write to whom, how agents are created and terminated, and what the logs keep.
import { expect, test } from "bun:test";
import type { AgentEvent } from "../../src/core/agent/events.ts";
import { overForGood } from "../../src/core/agent/gone.ts";
import { MAX_INBOX, MAX_PAYLOAD, MAX_PAYLOAD_BYTES } from "../../src/core/agent/limits.ts";
import { orphanedSessions, Tree } from "../../src/core/agent/tree.ts";
import { AgentFixture } from "./house.ts";

/** A root with two children, all at rest. */
function family(): AgentFixture {
  const fixture = new AgentFixture();
  fixture.create("root");
  fixture.create("ann", { parent: "root" });
  fixture.create("bob", { parent: "root" });
  fixture.create("kid", { parent: "ann" });
  return fixture;
}

test("a message goes one hop: to the parent, to children and to siblings by name, and no further", () => {
  const fixture = family();
  const to = (from: string, name: string) =>
    fixture.call(from, `${from}-${name}`, "send_message", { to: name, text: "x" }).ok;
  expect([to("ann", "root"), to("ann", "parent"), to("ann", "kid"), to("ann", "bob")]).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect([to("kid", "ann"), to("kid", "root"), to("kid", "bob"), to("root", "kid"), to("ann", "ann")]).toEqual([
    ...[true, false, false, false, false],
  ]);
  expect(fixture.agent("bob").inbox.map(({ sender, metadata }) => [sender, metadata["relation"]])).toEqual([
    ["ann", "sibling"],
  ]);
});

test("a broadcast reaches all siblings and neither parent nor children; roots have no siblings", () => {
  const fixture = family();
  fixture.create("other");
  expect(fixture.call("ann", "c1", "broadcast", { text: "hello" }).result).toEqual({ to: ["bob"], not_to: [] });
  expect(["root", "ann", "bob", "kid", "other"].map((id) => fixture.agent(id).inbox.length)).toEqual([0, 0, 1, 0, 0]);
  expect(fixture.call("root", "c1", "broadcast", { text: "hello" }).result).toEqual({ to: [], not_to: [] });
});

test("names are unique among siblings and among roots, and may repeat elsewhere", () => {
  const fixture = family();
  const make = (name: string, parent: string | undefined) =>
    fixture.refusal({
      ...{ kind: "create", id: `${name}-${parent}`, name, parent, instructions: "", settings: {} },
      plan: fixture.agent("root").plan,
    });
  expect([make("root", undefined), make("ann", "root"), make("ann", undefined), make("kid", "bob")]).toEqual([
    ...["name-taken", "name-taken", "", ""],
  ]);
  expect([make("a b", undefined), make("parent", undefined), make("x", "nobody")]).toEqual([
    "bad-name",
    "bad-name",
    "unknown",
  ]);
});

test("AG-1(a,b) AG-2(d) a spawn is durable when it is answered, and the child's session begins when the parent's turn ends", () => {
  const fixture = new AgentFixture();
  fixture.create("root", { instructions: "go" });
  fixture.start("root");
  const { result } = fixture.call("root", "c1", "spawn_agent", { name: "ann", instructions: "dig" });
  const [ann] = fixture.tree.childrenOf("root");
  expect(result).toEqual({ agent: ann ?? "", name: "ann" });
  const log = fixture.events.filter(({ id }) => id === ann).map(({ event }): string => event);
  expect(log).toEqual(["agent.created", "message.enqueued"]);
  expect(fixture.agent(ann ?? "").session.kind).toBe("deferred");
  fixture.done("root");
  expect(fixture.events.filter(({ id }) => id === ann).map(({ event }): string => event)).toEqual([
    ...["agent.created", "message.enqueued", "session.created", "turn.start", "process.starting"],
  ]);
  expect(fixture.agent(ann ?? "").turn?.prompt.text).toBe("dig");
});

test("an agent is terminated with all its descendants, and its parent gets the reason", () => {
  const fixture = family();
  fixture.send("kid", "m1");
  fixture.start("kid");
  fixture.do({ kind: "terminate", id: "ann", reason: "enough" });
  expect(["root", "ann", "kid", "bob"].map((id) => fixture.state(id))).toEqual([
    "working",
    "terminated",
    "terminated",
    "idle",
  ]);
  expect(fixture.agent("root").inbox.map(({ kind, payload }) => [kind, payload])).toEqual([
    ["child.terminated", "enough"],
  ]);
  expect(fixture.effects("kid").map(({ kind }) => kind)).toEqual(["stop", "timer"]);
  fixture.ends("kid", 143);
  expect(fixture.effects("kid").map(({ kind }) => kind)).toEqual(["finish"]);
  expect(fixture.refusal({ kind: "send", id: "kid", message: "m2", payload: "x", replyTo: undefined })).toBe(
    "terminated",
  );
});

test("no descendant of a terminated agent is left, however deep", () => {
  const fixture = family();
  fixture.create("kid2", { parent: "kid" });
  fixture.do({ kind: "terminate", id: "root", reason: "enough" });
  expect([...fixture.agentRecords.keys()].map((id) => fixture.state(id))).toEqual(Array(5).fill("terminated"));
  expect([fixture.tree.agents, fixture.agent("root").inbox]).toEqual([0, []]);
});

test("a terminated process that does not exit is killed", () => {
  const fixture = family();
  fixture.send("bob", "m1");
  fixture.start("bob");
  fixture.do({ kind: "terminate", id: "bob", reason: "enough" });
  fixture.wait(10_000);
  fixture.do({ kind: "wake", id: "bob" });
  expect(fixture.effects("bob")).toEqual([{ kind: "stop", id: "bob", generation: 1, signal: "SIGKILL" }]);
});

test("an agent that completes its work notifies its parent and ends with its turn; a root stays", () => {
  const fixture = family();
  fixture.send("ann", "m1");
  fixture.start("ann");
  expect(fixture.call("ann", "c1", "complete", { result: "42" }).ok).toBe(true);
  expect(fixture.agent("root").inbox.map(({ kind, payload }) => [kind, payload])).toEqual([["result", "42"]]);
  expect(fixture.state("ann")).toBe("working");
  fixture.done("ann");
  expect([fixture.state("ann"), fixture.state("kid"), fixture.agent("ann").terminated?.by]).toEqual([
    "terminated",
    "terminated",
    "complete",
  ]);
  expect(fixture.agent("root").inbox).toHaveLength(1);
  fixture.call("bob", "c1", "complete", { result: "without a turn" });
  expect(fixture.state("bob")).toBe("terminated");
  fixture.call("root", "c1", "complete", { result: "all" });
  expect([fixture.agent("root").result, fixture.agent("root").terminated]).toEqual(["all", undefined]);
});

test("AG-2(a,b) the tree is rebuilt from the logs alone, in any order, and is the same", () => {
  const fixture = family();
  fixture.do({ kind: "terminate", id: "bob", reason: "enough" });
  const again = fixture.replayed();
  expect(again.tree.snapshot()).toEqual(fixture.tree.snapshot());
  expect(again.agentRecords).toEqual(fixture.agentRecords);
  const backwards = new Map([...fixture.agentRecords].reverse());
  expect(Tree.of(backwards).snapshot()).toEqual(fixture.tree.snapshot());
  expect(orphanedSessions(fixture.agentRecords)).toEqual({ orphans: [], dangling: [] });
});

test("AG-2(c) a session without agent.created is an orphan: in no tree, and terminated; a child without its parent is kept", () => {
  const fixture = family();
  const { plan } = fixture.agent("root");
  const data = { provider: "scripted", model: null, ...plan, at: fixture.at };
  fixture.fold({ event: "session.created", id: "lost", data });
  fixture.agentRecords.delete("ann");
  expect(orphanedSessions(fixture.agentRecords)).toEqual({ orphans: ["lost"], dangling: ["kid"] });
  expect(fixture.tree.childrenOf(undefined)).toEqual(["root"]);
  fixture.do({ kind: "orphan", id: "lost" });
  expect([fixture.agent("lost").terminated?.by, fixture.refusal({ kind: "orphan", id: "kid" })]).toEqual([
    "orphan",
    "no-orphan",
  ]);
  expect(orphanedSessions(fixture.agentRecords).orphans).toEqual([]);
});

test("with a thousand agents an event costs no more than with one: nothing iterates over all of them", () => {
  const fixture = new AgentFixture();
  for (let at = 0; at < 1000; at += 1) fixture.create(`a${at}`, at === 0 ? {} : { parent: "a0" });
  const { asked } = fixture.agentRecords;
  fixture.send("a500", "m1");
  fixture.start("a500");
  fixture.done("a500");
  expect(fixture.agentRecords.asked - asked).toBeLessThan(100);
});

/** A root with this many children; all of them have read everything. */
function crowd(children: number): { fixture: AgentFixture; names: string[] } {
  const fixture = new AgentFixture();
  fixture.create("root");
  const names = Array.from({ length: children }, (_, at) => `child${String(at).padStart(3, "0")}`);
  for (const name of names) fixture.create(name, { parent: "root" });
  return { fixture, names };
}

/** Performs `pass-on` until there is none; returns the size of each transaction. */
function passAll(fixture: AgentFixture, id: string): number[] {
  const sizes: number[] = [];
  while (fixture.effects(id).some(({ kind }) => kind === "pass-on")) {
    const before = fixture.events.length;
    fixture.do({ kind: "pass-on", id });
    sizes.push(Buffer.byteLength(JSON.stringify(fixture.events.slice(before))));
  }
  return sizes;
}

test("BC1 BC2 a broadcast of any allowed length reaches any number of siblings once, in transactions that fit the log", () => {
  const { fixture, names } = crowd(200);
  const [sender = "", ...others] = names;
  const text = "é".repeat(MAX_PAYLOAD);
  const before = fixture.events.length;
  expect(fixture.call(sender, "c1", "broadcast", { text }).result).toEqual({ to: others, not_to: [] });
  expect(Buffer.byteLength(JSON.stringify(fixture.events.slice(before)))).toBeLessThan(MAX_TRANSACTION);
  expect(fixture.call(sender, "c1", "broadcast", { text }).result).toEqual({ to: others, not_to: [] }); // O3
  expect(Math.max(...passAll(fixture, sender))).toBeLessThan(MAX_TRANSACTION);
  const enqueued = fixture.events.flatMap((one) => (one.event === "message.enqueued" ? [one] : []));
  expect(enqueued.map(({ id }) => id).sort()).toEqual(others.toSorted());
  expect(new Set(enqueued.map(({ data }) => data.message_id)).size).toBe(others.length);
  expect(enqueued.every(({ data }) => data.payload === text && data.sender === sender)).toBe(true);
  expect(fixture.do({ kind: "pass-on", id: sender })).toEqual([]); // A repeat.
  expect(fixture.call(sender, "c2", "broadcast", { text: `${text}!` }).ok).toBe(false);
});

test("messages in any script fit the log together with the turns that they start; longer ones are refused", () => {
  const fixture = new AgentFixture();
  fixture.create("a");
  const sizeOf = (work: () => void) => {
    const before = fixture.events.length;
    work();
    return Buffer.byteLength(JSON.stringify(fixture.events.slice(before)));
  };
  const long = "漢".repeat(Math.floor(MAX_PAYLOAD_BYTES / 3) - 1);
  const refusal = (payload: string) =>
    fixture.refusal({ kind: "send", id: "a", message: "m0", payload, replyTo: undefined });
  expect([refusal("漢".repeat(MAX_PAYLOAD)), refusal("\u0001".repeat(MAX_PAYLOAD))]).toEqual([
    "too-large",
    "too-large",
  ]);
  const sizes = [sizeOf(() => fixture.send("a", "m1", long))]; // It starts a turn, and a process for it.
  for (const message of ["m2", "m3"]) sizes.push(sizeOf(() => fixture.send("a", message, long)));
  fixture.start("a");
  fixture.takeAll("a");
  sizes.push(sizeOf(() => fixture.done("a"))); // And the next turn.
  expect(fixture.agent("a").turns).toBe(2);
  expect(fixture.agent("a").turn?.messages).toEqual(["m2"]);
  expect(Math.max(...sizes)).toBeLessThan(MAX_TRANSACTION);
});

test("BC3 what was accepted is passed on if the sender has ended and an inbox is full, but not to the ended; until then the sender is kept", () => {
  const { fixture, names } = crowd(80);
  const [sender = "", gone = "", full = "", ...others] = names;
  fixture.call(sender, "c1", "broadcast", { text: "hello" });
  fixture.do({ kind: "terminate", id: gone, reason: "enough" });
  fixture.do({ kind: "terminate", id: sender, reason: "enough" });
  for (let at = 0; at < MAX_INBOX; at += 1) fixture.send(full, `m${at}`);
  expect(overForGood([fixture.agent(sender)])).toEqual([]);
  passAll(fixture, sender);
  expect(overForGood([fixture.agent(sender)])).toHaveLength(1);
  const got = (id: string) => fixture.events.filter((one) => one.id === id && isBroadcast(one)).length;
  expect([gone, full, ...others].map(got)).toEqual([0, 1, ...others.map(() => 1)]);
});

function isBroadcast(event: AgentEvent): boolean {
  return event.event === "message.enqueued" && event.data.kind === "broadcast";
}

/** Of the log (log/wal/wal.ts). */
const MAX_TRANSACTION = 1 << 20;
