import { expect, test } from "bun:test";
import { unreachable } from "../../src/base/machine.ts";
import { itemAt } from "../../src/base/vector.ts";
import { effectsOf } from "../../src/core/workflow/effects.ts";
import { IN_PROCESS_A_TURN, MAX_LOST } from "../../src/core/workflow/limits.ts";
import { runMachine } from "../../src/core/workflow/machine.ts";
import { childrenOf, progressOf } from "../../src/core/workflow/progress.ts";
import { setAside, stateOf, workflowSession } from "../../src/core/workflow/run.ts";
import { Story, set, shell } from "./stories.ts";

test("the end of a step and the start of the next are one transaction", () => {
  const story = new Story([shell("a", { capture: { x: "stdout" } }), set("b", { y: "${x}!" }), shell("c")]);
  expect(story.attempts).toEqual(["r1.1 a starting"]);
  expect(story.ends("a", 0, "hello\n\n")).toEqual(["attempt.ended", "step.ended", "step.ended", "attempt.started"]);
  expect(story.variables).toEqual({ x: "hello", y: "hello!" });
  expect(story.ends("c")).toEqual(["attempt.ended", "step.ended", "ended"]);
  expect([story.state, story.effects]).toEqual(["done", ["finish"]]);
});

test("set steps in a row are one transaction with the step before them and the start of the next", () => {
  const story = new Story([shell("a"), set("b", { n: 1 }), set("c", { n: "${n + 1}" }), set("d", { n: "${n + 1}" })]);
  expect(story.ends("a")).toEqual(["attempt.ended", "step.ended", "step.ended", "step.ended", "step.ended", "ended"]);
  expect([story.state, story.variables]).toEqual(["done", { n: 3 }]);
});

test("in-process steps in one transaction are limited in number; the rest follows", () => {
  const count = 2 * IN_PROCESS_A_TURN + 1;
  const story = new Story(Array.from({ length: count }, (_, at) => set(`s${at}`, { n: at })));
  expect([story.variables, story.effects]).toEqual([{ n: IN_PROCESS_A_TURN - 1 }, ["advance"]]);
  expect(story.say({ kind: "advance" })).toHaveLength(IN_PROCESS_A_TURN);
  expect(story.say({ kind: "advance" })).toEqual(["step.ended", "ended"]);
  const failing = new Story(
    Array.from({ length: count }, (_, at) => set(`s${at}`, { n: "${no}" }, { continue_on_error: true })),
  );
  expect(failing.run.records.length).toBe(IN_PROCESS_A_TURN);
});

test("in-process steps in one transaction are limited in bytes, together with the rest of the transaction", () => {
  const text = "x".repeat(100_000);
  const story = new Story([
    shell("a"),
    set("b", { x: text }),
    set("c", { y: text }),
    set("d", { z: text }),
    shell("e"),
  ]);
  expect(story.ends("a")).toEqual(["attempt.ended", "step.ended", "step.ended", "step.ended"]);
  expect(story.effects).toEqual(["advance"]);
  expect(story.say({ kind: "advance" })).toEqual(["step.ended", "attempt.started"]);
  const large = new Story([set("a", { x: text }), set("b", { y: text }), set("c", { z: text })]);
  expect([large.run.records.length, large.effects]).toEqual([0, ["advance"]]); // Its first event has the whole file.
  expect(large.say({ kind: "advance" })).toEqual(["step.ended", "step.ended"]);
});

test("results of items that end in-process are counted too", () => {
  const map = {
    input: { kind: "file", path: "x" },
    max_parallel: 8,
    steps: [set("a", { result: "${item}" })],
  } as const;
  const story = new Story({ mode: "mapreduce", setup: [], map, reduce: [] });
  const items = Array.from({ length: 4 }, () => "x".repeat(50_000));
  story.say({ kind: "items-read", from: 0, items, last: true });
  expect(story.run.items.succeeded).toBeLessThan(4);
  for (let turns = 0; story.state === "running" && turns < 10; turns += 1) story.say({ kind: "advance" });
  expect([story.state, story.run.items.succeeded]).toEqual(["done", 4]);
});

test("a repeated or late report changes nothing", () => {
  const story = new Story([shell("a"), shell("b")]);
  const child = { pid: 5, startTime: 1, bootId: "x" };
  expect(story.say({ kind: "attempt-running", attempt: "r1.1", child, holder: 4 })).toEqual(["attempt.running"]);
  expect(story.say({ kind: "attempt-running", attempt: "r1.1", child, holder: 4 })).toEqual([]);
  expect(story.effects).toEqual([]);
  story.ends("a");
  const output = { text: "", bytes: 0 };
  expect(story.say({ kind: "attempt-ended", attempt: "r1.1", code: 1, signal: null, output })).toEqual([]);
  expect(story.say({ kind: "attempt-lost", attempt: "r1.1", reason: "x" })).toEqual([]);
});

test("a deadline is data: after a restart the timer is set again, and the step is stopped, then killed", () => {
  const story = new Story([shell("a", { timeout_ms: 1000 })]);
  expect(story.later(3_600_000).restart().effects).toEqual(["start r1.1"]);
  story.now -= 3_600_000;
  const child = { pid: 5, startTime: 1, bootId: "x" };
  story.say({ kind: "attempt-running", attempt: "r1.1", child, holder: 4 });
  expect(story.restart().effects).toEqual(["timer 2026-01-01T00:00:01.000Z"]);
  expect(story.later(999).say({ kind: "attempt-running", attempt: "r1.1", child, holder: 4 })).toEqual([]);
  expect(story.say({ kind: "wake" })).toEqual([]);
  expect(story.later(1).say({ kind: "wake" })).toEqual(["attempt.stop.requested"]);
  expect(story.effects).toEqual(["stop r1.1 SIGTERM", "timer 2026-01-01T00:00:11.000Z"]);
  expect(story.later(10_000).say({ kind: "wake" })).toEqual(["attempt.stop.requested"]);
  expect(story.effects).toEqual(["stop r1.1 SIGKILL"]);
  story.say({ kind: "attempt-ended", attempt: "r1.1", code: null, signal: "SIGKILL", output: { text: "", bytes: 0 } });
  const { status } = story.run;
  expect(status.kind === "failed" && status.error).toMatchObject({ message: "Timed out after 1 s.", attempt: 1 });
});

test("retries wait twice as long each time, and the wait survives a restart", () => {
  const retry = { attempts: 4, backoff_ms: 100, max_backoff_ms: 250 };
  const story = new Story([shell("a", { retry })]);
  for (const wait of [100, 200, 250]) {
    expect(story.ends("a", 1)).toEqual(["attempt.ended", "step.retrying"]);
    expect(story.restart().say({ kind: "wake" })).toEqual([]);
    expect(story.later(wait - 1).say({ kind: "wake" })).toEqual([]);
    expect(story.later(1).say({ kind: "wake" })).toEqual(["attempt.started"]);
  }
  expect(story.ends("a", 1)).toEqual(["attempt.ended", "step.ended", "ended"]);
  expect(story.state).toBe("failed");
});

test("only the listed exit codes are retried", () => {
  const retry = { attempts: 3, backoff_ms: 1, max_backoff_ms: 1, exit_codes: [75] };
  expect(new Story([shell("a", { retry })]).ends("a", 75)).toEqual(["attempt.ended", "step.retrying"]);
  expect(new Story([shell("a", { retry })]).ends("a", 1)).toEqual(["attempt.ended", "step.ended", "ended"]);
});

test("on_failure steps run with the error, and the failure stands", () => {
  const story = new Story([
    shell("a", { on_failure: [set("h", { why: "${error.step}: ${error.exit_code}" }), shell("i")] }),
  ]);
  expect(story.ends("a", 3)).toEqual(["attempt.ended", "step.handling", "step.ended", "attempt.started"]);
  expect(story.variables).toEqual({ why: "a: 3" });
  story.ends("i");
  expect([story.state, itemAt(story.run.records, 2)?.outcome]).toEqual(["failed", "failed"]);
});

test("an on_failure step that fails ends the handling; continue_on_error continues anyway", () => {
  const story = new Story([shell("a", { continue_on_error: true, on_failure: [shell("h"), shell("i")] }), shell("b")]);
  story.ends("a", 1);
  expect(story.ends("h", 1)).toEqual(["attempt.ended", "step.ended", "step.ended", "attempt.started"]);
  expect(story.attempts).toEqual(["r1.3 b starting"]);
});

test("a step whose when is false is skipped; one whose when cannot be evaluated fails for good", () => {
  const story = new Story([shell("a", { when: "false" }), shell("b", { when: "nothing > 1" })]);
  const { status } = story.run;
  expect(status.kind === "failed" ? [status.error.step, status.error.retryable] : status).toEqual(["b", false]);
  expect(story.say({ kind: "resume", force: false })).toBe("not-retryable");
});

test("UC-8(c,d) resume retries a failed step, and not those before it", () => {
  const story = new Story([shell("a", { capture: { x: "stdout" } }), shell("b")]);
  story.ends("a", 0, "1");
  story.ends("b", 1);
  expect(story.restart().say({ kind: "resume", force: false })).toEqual(["resumed", "attempt.started"]);
  expect([story.attempts, story.variables]).toEqual([["r1.3 b starting"], { x: "1" }]);
  expect(story.say({ kind: "resume", force: false })).toEqual([]);
});

test("Ctrl-C stops what runs; resume restarts the step", () => {
  const story = new Story([shell("a"), shell("b")]);
  story.ends("a");
  expect(story.say({ kind: "interrupt" })).toEqual(["close.requested", "attempt.stop.requested"]);
  expect(story.effects[0]).toBe("stop r1.2 SIGINT");
  expect(story.say({ kind: "resume", force: false })).toBe("closing");
  expect(story.ends("b", 130)).toEqual(["attempt.ended", "ended"]);
  expect(story.state).toBe("interrupted");
  expect(story.say({ kind: "interrupt" })).toEqual([]);
  expect(story.say({ kind: "resume", force: false })).toEqual(["resumed", "attempt.started"]);
});

test("a step that succeeds although it was interrupted is done", () => {
  const story = new Story([shell("a"), shell("b")]);
  story.say({ kind: "interrupt" });
  expect(story.ends("a", 0)).toEqual(["attempt.ended", "step.ended", "ended"]);
  story.say({ kind: "resume", force: false });
  expect(story.attempts).toEqual(["r1.2 b starting"]);
});

test("cancelling wins over interrupting, works on a failed run, and is refused on a completed one", () => {
  const story = new Story([shell("a")]);
  story.say({ kind: "interrupt" });
  expect(story.say({ kind: "cancel" })).toEqual(["close.requested", "attempt.stop.requested"]);
  expect(story.say({ kind: "attempt-prevented", attempt: "r1.1", reason: "cancelled" })).toEqual([
    "attempt.ended",
    "ended",
  ]);
  expect([story.state, story.say({ kind: "resume", force: false })]).toEqual(["cancelled", "cancelled"]);
  const failed = new Story([shell("a")]);
  failed.ends("a", 1);
  expect([failed.say({ kind: "interrupt" }), failed.say({ kind: "cancel" })]).toEqual(["over", ["ended"]]);
  const done = new Story([shell("a")]);
  done.ends("a");
  expect([done.say({ kind: "cancel" }), done.say({ kind: "resume", force: true })]).toEqual(["over", "over"]);
  expect([done.say({ kind: "remove" }), done.effects, done.say({ kind: "remove" })]).toEqual([
    ["removed"],
    ["discard"],
    "unknown",
  ]);
});

test("W3 an uncertain attempt waits for a person, who may give any of three answers", () => {
  const uncertain = () => {
    const story = new Story([shell("a"), shell("b")]);
    expect(story.lost("a")).toEqual(["attempt.uncertain"]);
    expect([story.state, story.effects]).toEqual(["uncertain", []]);
    expect(story.lost("a")).toEqual([]);
    return story;
  };
  const rerun = uncertain();
  expect(rerun.say({ kind: "resolve", attempt: "r1.1", verdict: "rerun" })).toEqual([
    "attempt.resolved",
    "attempt.started",
  ]);
  expect(rerun.attempts).toEqual(["r1.2 a starting"]);
  const done = uncertain();
  expect(done.say({ kind: "resolve", attempt: "r1.1", verdict: "done" })).toEqual([
    "attempt.resolved",
    "step.ended",
    "attempt.started",
  ]);
  expect(done.attempts).toEqual(["r1.2 b starting"]);
  const failed = uncertain();
  failed.say({ kind: "resolve", attempt: "r1.1", verdict: "failed" });
  expect([failed.state, failed.say({ kind: "resolve", attempt: "r1.1", verdict: "done" })]).toEqual([
    "failed",
    "not-uncertain",
  ]);
});

test("W3 a file may decide in advance; a step that is lost too often is asked about anyway", () => {
  const fails = new Story([shell("a", { on_uncertain: "fail" })]);
  fails.lost("a");
  expect(fails.state).toBe("failed");
  const again = new Story([shell("a", { idempotent: true })]);
  for (let times = 1; times < MAX_LOST; times += 1) {
    again.lost("a");
    expect(again.attempts).toEqual([`r1.${times + 1} a starting`]);
  }
  again.lost("a");
  expect(again.state).toBe("uncertain");
});

test("the end of an uncertain attempt that is found after all is used", () => {
  const story = new Story([shell("a"), shell("b")]);
  story.lost("a");
  expect(story.ends("a")).toEqual(["attempt.ended", "step.ended", "attempt.started"]);
});

test("an attempt that waits for a person makes the run wait", () => {
  const story = new Story([shell("a")]);
  story.say({ kind: "attempt-waiting", attempt: "r1.1", reason: "May I?" });
  expect(story.state).toBe("waiting");
  story.say({ kind: "attempt-running", attempt: "r1.1", child: { pid: 1, startTime: 1, bootId: "b" }, holder: 2 });
  expect(story.state).toBe("running");
});

test("while an attempt waits for a person its time stands still, from when it began to wait", () => {
  const story = new Story([shell("a", { timeout_ms: 1000 })]);
  const handed = { kind: "attempt-handed", attempt: "r1.1", agent: "g" } as const;
  const waits = (prompt: string, since?: string) =>
    ({
      kind: "attempt-waiting",
      attempt: "r1.1",
      reason: "May I?",
      prompt,
      ...(since !== undefined && { since }),
    }) as const;
  expect([story.say(handed), story.say(handed)]).toEqual([["attempt.handed"], []]);
  story.later(700).say(waits("p1", "2026-01-01T00:00:00.400Z"));
  expect([story.state, story.say(waits("p1"))]).toEqual(["waiting", []]);
  expect([story.later(5000).effects, story.say({ kind: "wake" })]).toEqual([[], []]);
  expect([story.later(5000).say(waits("p2")), progressOf(story.run).needs]).toEqual([
    ["attempt.waiting"],
    [{ attempt: "r1.1", step: "a", why: "May I?", agent: "g", prompt: "p2" }],
  ]);
  story.restart().say(handed);
  expect([story.state, story.effects]).toEqual(["running", ["timer 2026-01-01T00:00:11.300Z"]]);
});

test("an iterative run ends when `until` is true, and fails if it never is", () => {
  const flow = (until: string) =>
    ({ mode: "iterative", max_iterations: 2, until, steps: [shell("a", { capture: { x: "stdout" } })] }) as const;
  const story = new Story(flow("x == 'yes'"));
  expect(story.ends("a", 0, "no")).toEqual(["attempt.ended", "step.ended", "iteration.ended", "attempt.started"]);
  story.ends("a", 0, "yes");
  expect([story.state, story.run.main.place.iteration]).toEqual(["done", 2]);
  const never = new Story(flow("x == 'never'"));
  never.ends("a");
  never.ends("a");
  expect([never.state, never.say({ kind: "resume", force: false })]).toEqual(["failed", "not-retryable"]);
});

test("a run is created once, and only from a file that fits the log", () => {
  const story = new Story([shell("a")]);
  const command = {
    kind: "create",
    path: "/w",
    repo: "w",
    cwd: "/w",
    worktree: undefined,
    environment: {},
    sourceSha256: "",
    parameters: {},
  } as const;
  const definition = { name: "x", flow: { mode: "standard", steps: [shell("a")] } } as const;
  expect(story.say({ ...command, definition })).toBe("id-taken");
  const other = new Story([shell("a")]);
  const steps = [set("a", { x: "y".repeat(1_000_000) })];
  const large = other.submit({ ...command, id: "r2", definition: { name: "x", flow: { mode: "standard", steps } } });
  expect(large.ok ? "" : large.error.code).toBe("too-large");
});

test("a run can reach each of its states", () => {
  expect(unreachable(runMachine)).toEqual([]);
});

test("a run that is set aside is shown and left alone", () => {
  const story = new Story([shell("a")]);
  const aside = setAside(story.run, "its log is damaged", "now");
  expect([stateOf(aside), effectsOf(aside)]).toEqual(["failed", [{ kind: "finish", id: "r1" }]]);
  const event = { event: "workflow.resumed", id: "r1", data: { at: "now" } } as const;
  expect(workflowSession(story.run, event)).toBe("state/w/sessions/r1");
});

test("a step that is run again because it was lost keeps its number of tries", () => {
  const retry = { attempts: 2, backoff_ms: 1, max_backoff_ms: 1 };
  const story = new Story([shell("a", { retry })]);
  story.lost("a");
  story.say({ kind: "resolve", attempt: "r1.1", verdict: "rerun" });
  expect(story.ends("a", 1)).toEqual(["attempt.ended", "step.retrying"]);
});

test("a step stopped by its timeout has failed, even if it exits with 0", () => {
  const story = new Story([shell("a", { timeout_ms: 1 })]);
  story.say({ kind: "attempt-running", attempt: "r1.1", child: { pid: 1, startTime: 1, bootId: "b" }, holder: 2 });
  story.later(1).say({ kind: "wake" });
  story.ends("a", 0);
  expect(story.state).toBe("failed");
});

test("the progress of a run, and what it needs", () => {
  const story = new Story([shell("a"), shell("b")]);
  story.ends("a");
  const child = { pid: 9, startTime: 1, bootId: "b" };
  story.say({ kind: "attempt-running", attempt: "r1.2", child, holder: 2 });
  expect(progressOf(story.run)).toEqual({
    ...{ state: "running", step: 2, steps: 2, at: "b", iteration: 1, items: undefined, needs: [] },
  });
  story.say({ kind: "attempt-waiting", attempt: "r1.2", reason: "May I?" });
  expect(progressOf(story.run).needs).toEqual([
    { attempt: "r1.2", step: "b", why: "May I?", agent: null, prompt: null },
  ]);
  expect(childrenOf(story.run)).toEqual([child]);
  story.lost("b");
  expect([progressOf(story.run).state, childrenOf(story.run)]).toEqual(["uncertain", [child]]);
  const done = new Story([shell("a")]);
  done.ends("a");
  expect(progressOf(done.run)).toMatchObject({ state: "done", step: 1, steps: 1, at: undefined });
});

test("W4 a repeated request to resume is one request, and another client's is refused while the run continues", () => {
  const story = new Story([shell("a")]);
  const mine = { wish: "1", pid: 7, user: "ann" };
  story.ends("a", 1);
  expect(story.say({ kind: "resume", force: false, by: mine })).toEqual(["resumed", "attempt.started"]);
  expect(story.restart().say({ kind: "resume", force: false, by: { ...mine, wish: "2" } })).toBe("running");
  story.ends("a", 1);
  expect(story.say({ kind: "resume", force: false, by: mine })).toEqual([]);
  expect(story.state).toBe("failed");
  expect(story.say({ kind: "resume", force: false, by: { ...mine, wish: "2" } })).toEqual([
    "resumed",
    "attempt.started",
  ]);
});

test("W4 a repeated answer about an uncertain step is one answer, and a second client learns whose the first was", () => {
  const story = new Story([shell("a"), shell("b")]);
  const mine = { wish: "1", pid: 7, user: "ann" };
  story.lost("a");
  const answer = { kind: "resolve", attempt: "r1.1", verdict: "done" } as const;
  expect(story.say({ ...answer, by: mine })).toEqual(["attempt.resolved", "step.ended", "attempt.started"]);
  expect(story.restart().say({ ...answer, by: mine })).toEqual([]);
  expect(story.say({ ...answer, by: { ...mine, wish: "2" } })).toBe("not-uncertain");
  expect(story.run.asked).toMatchObject({ by: mine });
});
