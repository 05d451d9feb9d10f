// The tree of agents: who may write to whom, who comes and goes, and what is left of it in the logs.
import { expect, test } from "bun:test";
import { straysOf, Tree } from "../../src/core/agent/tree.ts";
import { House } from "./house.ts";

/** A root with two children, all at rest. */
function family(): House {
  const house = new House();
  house.create("root");
  house.create("ann", { parent: "root" });
  house.create("bob", { parent: "root" });
  house.create("kid", { parent: "ann" });
  return house;
}

test("a message goes one hop: to the parent, to children and to siblings by name, and to nobody else", () => {
  const house = family();
  const to = (from: string, name: string) =>
    house.call(from, `${from}-${name}`, "send_message", { to: name, text: "x" }).ok;
  expect([to("ann", "root"), to("ann", "parent"), to("ann", "kid"), to("ann", "bob")]).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect([to("kid", "ann"), to("kid", "root"), to("kid", "bob"), to("root", "kid"), to("ann", "ann")]).toEqual([
    ...[true, false, false, false, false],
  ]);
  expect(house.agent("bob").inbox.map(({ sender, metadata }) => [sender, metadata["relation"]])).toEqual([
    ["ann", "sibling"],
  ]);
});

test("a broadcast reaches all siblings and neither parent nor children; roots have no siblings", () => {
  const house = family();
  house.create("other");
  expect(house.call("ann", "c1", "broadcast", { text: "hello" }).result).toEqual({ to: ["bob"], not_to: [] });
  expect(["root", "ann", "bob", "kid", "other"].map((id) => house.agent(id).inbox.length)).toEqual([0, 0, 1, 0, 0]);
  expect(house.call("root", "c1", "broadcast", { text: "hello" }).result).toEqual({ to: [], not_to: [] });
});

test("names are unique among siblings and among roots, and may repeat elsewhere", () => {
  const house = family();
  const make = (name: string, parent: string | undefined) =>
    house.refusal({
      ...{ kind: "create", id: `${name}-${parent}`, name, parent, instructions: "", settings: {} },
      plan: house.agent("root").plan,
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
  const house = new House();
  house.create("root", { instructions: "go" });
  house.start("root");
  const { result } = house.call("root", "c1", "spawn_agent", { name: "ann", instructions: "dig" });
  const [ann] = house.tree.childrenOf("root");
  expect(result).toEqual({ agent: ann ?? "", name: "ann" });
  const log = house.events.filter(({ id }) => id === ann).map(({ event }): string => event);
  expect(log).toEqual(["agent.created", "message.enqueued"]);
  expect(house.agent(ann ?? "").session.kind).toBe("deferred");
  house.done("root");
  expect(house.events.filter(({ id }) => id === ann).map(({ event }): string => event)).toEqual([
    ...["agent.created", "message.enqueued", "session.created", "turn.start", "process.starting"],
  ]);
  expect(house.agent(ann ?? "").turn?.prompt.text).toBe("dig");
});

test("an agent goes with everybody below it, and its parent hears why", () => {
  const house = family();
  house.send("kid", "m1");
  house.start("kid");
  house.do({ kind: "terminate", id: "ann", reason: "enough" });
  expect(["root", "ann", "kid", "bob"].map((id) => house.state(id))).toEqual([
    "working",
    "terminated",
    "terminated",
    "idle",
  ]);
  expect(house.agent("root").inbox.map(({ kind, payload }) => [kind, payload])).toEqual([
    ["child.terminated", "enough"],
  ]);
  expect(house.effects("kid").map(({ kind }) => kind)).toEqual(["stop", "timer"]);
  house.ends("kid", 143);
  expect(house.effects("kid").map(({ kind }) => kind)).toEqual(["finish"]);
  expect(house.refusal({ kind: "send", id: "kid", message: "m2", payload: "x", replyTo: undefined })).toBe(
    "terminated",
  );
});

test("nobody is left below an agent that went, however deep", () => {
  const house = family();
  house.create("kid2", { parent: "kid" });
  house.do({ kind: "terminate", id: "root", reason: "enough" });
  expect([...house.residents.keys()].map((id) => house.state(id))).toEqual(Array(5).fill("terminated"));
  expect([house.tree.agents, house.agent("root").inbox]).toEqual([0, []]);
});

test("a terminated process that does not end is made to", () => {
  const house = family();
  house.send("bob", "m1");
  house.start("bob");
  house.do({ kind: "terminate", id: "bob", reason: "enough" });
  house.wait(10_000);
  house.do({ kind: "wake", id: "bob" });
  expect(house.effects("bob")).toEqual([{ kind: "stop", id: "bob", generation: 1, signal: "SIGKILL" }]);
});

test("who completes its work tells its parent and ends with its turn; a root stays", () => {
  const house = family();
  house.send("ann", "m1");
  house.start("ann");
  expect(house.call("ann", "c1", "complete", { result: "42" }).ok).toBe(true);
  expect(house.agent("root").inbox.map(({ kind, payload }) => [kind, payload])).toEqual([["result", "42"]]);
  expect(house.state("ann")).toBe("working");
  house.done("ann");
  expect([house.state("ann"), house.state("kid"), house.agent("ann").terminated?.by]).toEqual([
    "terminated",
    "terminated",
    "complete",
  ]);
  expect(house.agent("root").inbox).toHaveLength(1);
  house.call("bob", "c1", "complete", { result: "without a turn" });
  expect(house.state("bob")).toBe("terminated");
  house.call("root", "c1", "complete", { result: "all" });
  expect([house.agent("root").result, house.agent("root").terminated]).toEqual(["all", undefined]);
});

test("AG-2(a,b) the tree is rebuilt from the logs alone, whatever their order, and is what it was", () => {
  const house = family();
  house.do({ kind: "terminate", id: "bob", reason: "enough" });
  const again = house.replayed();
  expect(again.tree.snapshot()).toEqual(house.tree.snapshot());
  expect(again.residents).toEqual(house.residents);
  const backwards = new Map([...house.residents].reverse());
  expect(Tree.of(backwards).snapshot()).toEqual(house.tree.snapshot());
  expect(straysOf(house.residents)).toEqual({ orphans: [], dangling: [] });
});

test("AG-2(c) a session without agent.created is an orphan: in no tree, and terminated; a child without its parent is kept", () => {
  const house = family();
  const { plan } = house.agent("root");
  const data = { provider: "scripted", model: null, ...plan, at: house.at };
  house.fold({ event: "session.created", id: "lost", data });
  house.residents.delete("ann");
  expect(straysOf(house.residents)).toEqual({ orphans: ["lost"], dangling: ["kid"] });
  expect(house.tree.childrenOf(undefined)).toEqual(["root"]);
  house.do({ kind: "orphan", id: "lost" });
  expect([house.agent("lost").terminated?.by, house.refusal({ kind: "orphan", id: "kid" })]).toEqual([
    "orphan",
    "no-orphan",
  ]);
  expect(straysOf(house.residents).orphans).toEqual([]);
});

test("a thousand agents cost an event no more than one does: nothing walks them all", () => {
  const house = new House();
  for (let at = 0; at < 1000; at += 1) house.create(`a${at}`, at === 0 ? {} : { parent: "a0" });
  const { asked } = house.residents;
  house.send("a500", "m1");
  house.start("a500");
  house.done("a500");
  expect(house.residents.asked - asked).toBeLessThan(100);
});
