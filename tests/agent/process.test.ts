// The process of an agent: its exit, its silence, its crashes, and the slots that processes share.
import { expect, test } from "bun:test";
import { cells, unreachable } from "../../src/base/machine.ts";
import { holdsSlot } from "../../src/core/agent/agent.ts";
import { judgeCrash, processMachine } from "../../src/core/agent/process.ts";
import { AgentFixture, CHILD } from "./house.ts";

function working(settings = {}): AgentFixture {
  const fixture = new AgentFixture();
  fixture.create("p");
  fixture.create("a", { parent: "p", settings });
  fixture.send("a", "m1");
  fixture.start("a");
  return fixture;
}

const MINUTES = 60_000;

test("every state of a process can be reached, and every cell is legal or refused by name", () => {
  expect(unreachable(processMachine)).toEqual([]);
  for (const { state, event, next } of cells(processMachine)) {
    const result = processMachine.next(state, event);
    expect(result.ok ? result.value : result.error.code).toBe(next ?? "illegal-transition");
  }
});

test("SP-1(a,b) exit 0 after a turn is idle; exit 0 within one is a crash, and so is any other code", () => {
  const fixture = working();
  fixture.done("a");
  expect(fixture.ends("a", 0)).toEqual(["process.ended a"]);
  expect([fixture.state("a"), fixture.agent("a").process]).toEqual(["idle", { kind: "Idle", restart: false }]);
  expect(working().ends("a", 0)).toEqual(["process.ended a", "process.backoff a"]);
  expect(working().ends("a", null, "SIGSEGV")).toEqual(["process.ended a", "process.backoff a"]);
});

test("SP-1(c) five minutes of silence in a turn: SIGTERM, then SIGKILL, then it counts as a crash", () => {
  const fixture = working();
  fixture.wait(3 * MINUTES);
  fixture.says("a", { kind: "text", text: "still here" });
  fixture.wait(5 * MINUTES - 1);
  expect(fixture.do({ kind: "wake", id: "a" })).toEqual([]);
  fixture.wait(1);
  fixture.do({ kind: "wake", id: "a" });
  expect(fixture.effects("a")[0]).toEqual({ kind: "stop", id: "a", generation: 1, signal: "SIGTERM" });
  fixture.wait(10_000);
  fixture.do({ kind: "wake", id: "a" });
  expect(fixture.effects("a")).toEqual([{ kind: "stop", id: "a", generation: 1, signal: "SIGKILL" }]);
  fixture.ends("a", null, "SIGKILL");
  expect(fixture.agent("a").process.kind).toBe("BackoffWait");
  expect(fixture.events.at(-2)?.data).toMatchObject({ outcome: "killed" });
});

test("SP-1(c) silence outside a turn, or while a person is asked, is not a hang", () => {
  const fixture = working({ hung_after_ms: 1000 });
  fixture.says("a", { kind: "ask", request: "r1", tool: "Bash", input: { command: "ls" } });
  fixture.wait(60 * MINUTES);
  expect(fixture.do({ kind: "wake", id: "a" })).toEqual([]);
  const [prompt] = fixture.agent("a").prompts;
  fixture.do({
    kind: "answer",
    id: "a",
    prompt: prompt?.id ?? "",
    answer: "a1",
    decision: "allow",
    message: "",
    always: false,
  });
  expect(fixture.do({ kind: "wake", id: "a" })).toEqual([]);
  fixture.takeAll("a");
  fixture.done("a");
  fixture.wait(60 * MINUTES);
  expect(fixture.do({ kind: "wake", id: "a" })).toEqual([]);
});

test("SP-2(a,b) a crash restarts with resume after a growing backoff; the fifth within a minute is final", () => {
  const fixture = working();
  const waits: number[] = [];
  for (let crash = 1; crash < 5; crash += 1) {
    fixture.ends("a", 1);
    const { process } = fixture.agent("a");
    waits.push(process.kind === "BackoffWait" ? Date.parse(process.until) - fixture.now : 0);
    expect(fixture.do({ kind: "wake", id: "a" })).toEqual([]);
    fixture.wait(waits.at(-1) ?? 0);
    expect(fixture.do({ kind: "wake", id: "a" })).toEqual(["process.rested a", "process.starting a"]);
    expect(fixture.events.at(-1)?.data).toMatchObject({ generation: crash + 1, resume: true });
    fixture.start("a");
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000]);
  expect(fixture.ends("a", 1).slice(0, 2)).toEqual(["process.ended a", "agent.crashed a"]);
  expect(fixture.state("a")).toBe("crashed");
});

test("SP-2(a) crashes far apart do not add up, and an idle process that crashes is restarted", () => {
  const fixture = working();
  fixture.done("a");
  for (let crash = 1; crash <= 10; crash += 1) {
    fixture.ends("a", 1);
    fixture.wait(61_000);
    fixture.do({ kind: "wake", id: "a" });
    fixture.start("a");
  }
  expect([fixture.state("a"), fixture.agent("a").process.kind]).toEqual(["idle", "Running"]);
  expect(judgeCrash([0, 1, 2, 3], 1, 4).kind).toBe("permanent");
  expect(judgeCrash([0, 1, 2, 3], 1, 60_001).kind).toBe("restart");
});

test("SP-2(b) SP-3(a,b) a process that cannot be started is final: clients get CRASHED, the parent is notified, a person can retry", () => {
  const fixture = new AgentFixture();
  fixture.create("p");
  fixture.create("a", { parent: "p" });
  fixture.send("a", "m1");
  fixture.do({ kind: "start-failed", id: "a", generation: 1, reason: "no such program" });
  const reason = "It could not be started: no such program";
  expect([fixture.state("a"), fixture.effects("a")]).toEqual([
    "crashed",
    [{ kind: "crashed", id: "a", reason, at: fixture.at }],
  ]);
  expect(fixture.agent("p").inbox.map(({ kind, payload }) => [kind, payload])).toEqual([["child.crashed", reason]]);
  fixture.send("a", "m2");
  expect(fixture.state("a")).toBe("crashed");
  expect(fixture.do({ kind: "retry", id: "a" })).toEqual(["agent.retried a", "process.starting a"]);
  fixture.start("a");
  fixture.done("a");
  expect([fixture.agent("a").turns, fixture.refusal({ kind: "retry", id: "a" })]).toEqual([2, "nothing-to-retry"]);
});

test("SP-2(b) a start that was refused for nothing about the program is no crash: it is tried again for as long as it takes", () => {
  const fixture = new AgentFixture();
  fixture.create("p");
  fixture.create("a", { parent: "p" });
  fixture.send("a", "m1");
  for (let generation = 1; generation <= 10; generation += 1) {
    fixture.do({ kind: "start-failed", id: "a", generation, reason: "EAGAIN", passing: true });
    expect(fixture.agent("a").process).toMatchObject({
      kind: "BackoffWait",
      reason: "It could not be started: EAGAIN",
    });
    fixture.wait(15_000);
    fixture.do({ kind: "wake", id: "a" });
  }
  expect([fixture.agent("p").inbox, fixture.agent("a").crashes]).toEqual([[], []]);
  fixture.start("a");
  fixture.done("a");
  expect(fixture.agent("a").turns).toBe(1);
});

test("W2 reports about an earlier process change nothing", () => {
  const fixture = working();
  fixture.ends("a", 1);
  fixture.wait(1000);
  fixture.do({ kind: "wake", id: "a" });
  for (const generation of [1, 3]) {
    expect(fixture.do({ kind: "ended", id: "a", generation, code: 1, signal: null })).toEqual([]);
    expect(fixture.do({ kind: "started", id: "a", generation, child: CHILD, holder: 1 })).toEqual([]);
    expect(fixture.do({ kind: "taken", id: "a", generation, through: 9, pieces: 9 })).toEqual([]);
  }
});

test("AG-5(a,b) slots are limited: the least recently used agent makes room, and is restored on its next turn", () => {
  const fixture = new AgentFixture({ slots: { scripted: 2 } });
  for (const id of ["a", "b", "c"]) fixture.create(id);
  for (const id of ["a", "b"]) {
    fixture.send(id, `${id}1`);
    fixture.start(id);
    fixture.wait(1000);
    fixture.done(id);
  }
  expect(fixture.send("c", "c1")).toEqual(["message.enqueued c", "process.stopping a"]);
  expect(fixture.effects("a")[0]).toEqual({ kind: "suspend", id: "a", generation: 1 });
  expect(fixture.send("c", "c2")).toEqual(["message.enqueued c"]);
  expect(fixture.ends("a", 0)).toEqual(["process.ended a", "suspend.result a", "turn.start c", "process.starting c"]);
  expect([fixture.state("a"), fixture.state("c")]).toEqual(["suspended", "working"]);
  fixture.start("c");
  expect(fixture.send("a", "a2")).toEqual(["message.enqueued a", "process.stopping b"]);
  expect(fixture.ends("b", 0)).toEqual([
    ...["process.ended b", "suspend.result b", "turn.start a", "session.restored a", "process.starting a"],
  ]);
  expect(fixture.events.at(-1)?.data).toMatchObject({ generation: 2, resume: true });
});

test("AG-5(b) a process that does not exit when it is suspended is killed", () => {
  const fixture = working();
  fixture.done("a");
  fixture.do({ kind: "suspend", id: "a" });
  fixture.wait(10_000);
  fixture.do({ kind: "wake", id: "a" });
  expect(fixture.effects("a")[0]).toMatchObject({ kind: "stop", signal: "SIGTERM" });
  fixture.ends("a", 143);
  expect(fixture.state("a")).toBe("suspended");
  expect(fixture.do({ kind: "suspend", id: "a" })).toEqual([]);
});

test("AG-5(a) fair: an agent that always has messages does not starve others, and no slot is ever used twice", () => {
  const fixture = new AgentFixture({ slots: { scripted: 1 } });
  for (const id of ["busy", "one", "two"]) fixture.create(id);
  fixture.send("busy", "b0");
  fixture.send("one", "o1");
  fixture.send("two", "t1");
  const order: string[] = [];
  for (let at = 1; at <= 12; at += 1) {
    fixture.wait(1000);
    const holders = [...fixture.agentRecords.keys()].filter((id) => holdsSlot(fixture.agent(id)));
    expect(holders.length).toBe(1);
    const id = holders[0] ?? "";
    if (fixture.agent(id).process.kind === "Stopping") fixture.ends(id, 0);
    else {
      if (fixture.agent(id).process.kind === "Spawning") fixture.start(id);
      order.push(id);
      fixture.send("busy", `b${at}`);
      fixture.takeAll(id);
      fixture.done(id);
    }
  }
  expect(order.slice(0, 4)).toEqual(["busy", "one", "two", "busy"]);
});

test("SM-3(b,g) safe mode: nothing begins while the house is paused, and everything afterwards", () => {
  const fixture = new AgentFixture({ paused: true });
  fixture.create("a");
  expect(fixture.send("a", "m1")).toEqual(["message.enqueued a"]);
  fixture.settings = { ...fixture.settings, paused: false };
  expect(fixture.do({ kind: "schedule", id: "a" })).toEqual(["turn.start a", "process.starting a"]);
});
