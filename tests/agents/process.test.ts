// The process of an agent: its end, its silence, its crashes, and the slots that processes share.
import { expect, test } from "bun:test";
import { cells, unreachable } from "../../src/base/machine.ts";
import { holdsSlot } from "../../src/core/agent/agent.ts";
import { judgeCrash, processMachine } from "../../src/core/agent/process.ts";
import { CHILD, House } from "./house.ts";

function working(settings = {}): House {
  const house = new House();
  house.create("p");
  house.create("a", { parent: "p", settings });
  house.send("a", "m1");
  house.start("a");
  return house;
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
  const house = working();
  house.done("a");
  expect(house.ends("a", 0)).toEqual(["process.ended a"]);
  expect([house.state("a"), house.agent("a").process]).toEqual(["idle", { kind: "Idle", restart: false }]);
  expect(working().ends("a", 0)).toEqual(["process.ended a", "process.backoff a"]);
  expect(working().ends("a", null, "SIGSEGV")).toEqual(["process.ended a", "process.backoff a"]);
});

test("SP-1(c) five minutes of silence in a turn: SIGTERM, then SIGKILL, then it counts as a crash", () => {
  const house = working();
  house.wait(3 * MINUTES);
  house.says("a", { kind: "text", text: "still here" });
  house.wait(5 * MINUTES - 1);
  expect(house.do({ kind: "wake", id: "a" })).toEqual([]);
  house.wait(1);
  house.do({ kind: "wake", id: "a" });
  expect(house.effects("a")[0]).toEqual({ kind: "stop", id: "a", generation: 1, signal: "SIGTERM" });
  house.wait(10_000);
  house.do({ kind: "wake", id: "a" });
  expect(house.effects("a")).toEqual([{ kind: "stop", id: "a", generation: 1, signal: "SIGKILL" }]);
  house.ends("a", null, "SIGKILL");
  expect(house.agent("a").process.kind).toBe("BackoffWait");
  expect(house.events.at(-2)?.data).toMatchObject({ outcome: "killed" });
});

test("SP-1(c) silence outside of a turn, or while a person is asked, is no hang", () => {
  const house = working({ hung_after_ms: 1000 });
  house.says("a", { kind: "ask", request: "r1", tool: "Bash", input: { command: "ls" } });
  house.wait(60 * MINUTES);
  expect(house.do({ kind: "wake", id: "a" })).toEqual([]);
  const [prompt] = house.agent("a").prompts;
  house.do({
    kind: "answer",
    id: "a",
    prompt: prompt?.id ?? "",
    answer: "a1",
    decision: "allow",
    message: "",
    always: false,
  });
  expect(house.do({ kind: "wake", id: "a" })).toEqual([]);
  house.takeAll("a");
  house.done("a");
  house.wait(60 * MINUTES);
  expect(house.do({ kind: "wake", id: "a" })).toEqual([]);
});

test("SP-2(a,b) a crash restarts with resume after a backoff that grows; the fifth within a minute is for good", () => {
  const house = working();
  const waits: number[] = [];
  for (let crash = 1; crash < 5; crash += 1) {
    house.ends("a", 1);
    const { process } = house.agent("a");
    waits.push(process.kind === "BackoffWait" ? Date.parse(process.until) - house.now : 0);
    expect(house.do({ kind: "wake", id: "a" })).toEqual([]);
    house.wait(waits.at(-1) ?? 0);
    expect(house.do({ kind: "wake", id: "a" })).toEqual(["process.rested a", "process.starting a"]);
    expect(house.events.at(-1)?.data).toMatchObject({ generation: crash + 1, resume: true });
    house.start("a");
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000]);
  expect(house.ends("a", 1).slice(0, 2)).toEqual(["process.ended a", "agent.crashed a"]);
  expect(house.state("a")).toBe("crashed");
});

test("SP-2(a) crashes that lie apart do not add up, and an idle process that crashes is started again", () => {
  const house = working();
  house.done("a");
  for (let crash = 1; crash <= 10; crash += 1) {
    house.ends("a", 1);
    house.wait(61_000);
    house.do({ kind: "wake", id: "a" });
    house.start("a");
  }
  expect([house.state("a"), house.agent("a").process.kind]).toEqual(["idle", "Running"]);
  expect(judgeCrash([0, 1, 2, 3], 4).kind).toBe("permanent");
  expect(judgeCrash([0, 1, 2, 3], 60_001).kind).toBe("restart");
});

test("SP-2(b) SP-3(a,b) a process that cannot be started is for good: clients are told CRASHED, the parent hears it, a person retries", () => {
  const house = new House();
  house.create("p");
  house.create("a", { parent: "p" });
  house.send("a", "m1");
  house.do({ kind: "start-failed", id: "a", generation: 1, reason: "no such program" });
  const reason = "It could not be started: no such program";
  expect([house.state("a"), house.effects("a")]).toEqual([
    "crashed",
    [{ kind: "crashed", id: "a", reason, at: house.at }],
  ]);
  expect(house.agent("p").inbox.map(({ kind, payload }) => [kind, payload])).toEqual([["child.crashed", reason]]);
  house.send("a", "m2");
  expect(house.state("a")).toBe("crashed");
  expect(house.do({ kind: "retry", id: "a" })).toEqual(["agent.retried a", "process.starting a"]);
  house.start("a");
  house.done("a");
  expect([house.agent("a").turns, house.refusal({ kind: "retry", id: "a" })]).toEqual([2, "nothing-to-retry"]);
});

test("W2 reports of a process that is not the present one change nothing", () => {
  const house = working();
  house.ends("a", 1);
  house.wait(1000);
  house.do({ kind: "wake", id: "a" });
  for (const generation of [1, 3]) {
    expect(house.do({ kind: "ended", id: "a", generation, code: 1, signal: null })).toEqual([]);
    expect(house.do({ kind: "started", id: "a", generation, child: CHILD, holder: 1 })).toEqual([]);
    expect(house.do({ kind: "taken", id: "a", generation, through: 9, pieces: 9 })).toEqual([]);
  }
});

test("AG-5(a,b) slots are few: who was used least recently makes room, and is restored on its next turn", () => {
  const house = new House({ slots: { scripted: 2 } });
  for (const id of ["a", "b", "c"]) house.create(id);
  for (const id of ["a", "b"]) {
    house.send(id, `${id}1`);
    house.start(id);
    house.wait(1000);
    house.done(id);
  }
  expect(house.send("c", "c1")).toEqual(["message.enqueued c", "process.stopping a"]);
  expect(house.effects("a")[0]).toEqual({ kind: "suspend", id: "a", generation: 1 });
  expect(house.send("c", "c2")).toEqual(["message.enqueued c"]);
  expect(house.ends("a", 0)).toEqual(["process.ended a", "suspend.result a", "turn.start c", "process.starting c"]);
  expect([house.state("a"), house.state("c")]).toEqual(["suspended", "working"]);
  house.start("c");
  expect(house.send("a", "a2")).toEqual(["message.enqueued a", "process.stopping b"]);
  expect(house.ends("b", 0)).toEqual([
    ...["process.ended b", "suspend.result b", "turn.start a", "session.restored a", "process.starting a"],
  ]);
  expect(house.events.at(-1)?.data).toMatchObject({ generation: 2, resume: true });
});

test("AG-5(b) a process that does not end when it is suspended is made to", () => {
  const house = working();
  house.done("a");
  house.do({ kind: "suspend", id: "a" });
  house.wait(10_000);
  house.do({ kind: "wake", id: "a" });
  expect(house.effects("a")[0]).toMatchObject({ kind: "stop", signal: "SIGTERM" });
  house.ends("a", 143);
  expect(house.state("a")).toBe("suspended");
  expect(house.do({ kind: "suspend", id: "a" })).toEqual([]);
});

test("AG-5(a) fair: one that always has messages does not keep others waiting, and no slot is ever used twice", () => {
  const house = new House({ slots: { scripted: 1 } });
  for (const id of ["busy", "one", "two"]) house.create(id);
  house.send("busy", "b0");
  house.send("one", "o1");
  house.send("two", "t1");
  const order: string[] = [];
  for (let at = 1; at <= 12; at += 1) {
    house.wait(1000);
    const holders = [...house.residents.keys()].filter((id) => holdsSlot(house.agent(id)));
    expect(holders.length).toBe(1);
    const id = holders[0] ?? "";
    if (house.agent(id).process.kind === "Stopping") house.ends(id, 0);
    else {
      if (house.agent(id).process.kind === "Spawning") house.start(id);
      order.push(id);
      house.send("busy", `b${at}`);
      house.takeAll(id);
      house.done(id);
    }
  }
  expect(order.slice(0, 4)).toEqual(["busy", "one", "two", "busy"]);
});

test("SM-3(b,g) safe mode: nothing begins while the house is paused, and everything after", () => {
  const house = new House({ paused: true });
  house.create("a");
  expect(house.send("a", "m1")).toEqual(["message.enqueued a"]);
  house.settings = { ...house.settings, paused: false };
  expect(house.do({ kind: "schedule", id: "a" })).toEqual(["turn.start a", "process.starting a"]);
});
