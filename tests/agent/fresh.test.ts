// Conversations that a provider cannot continue, tools in flight when a process died, and restarts without progress.
import { expect, test } from "bun:test";
import type { ProviderEvent } from "../../src/core/agent/provider.ts";
import { AgentFixture } from "./house.ts";

const LOST: ProviderEvent = { kind: "failed", reason: "Session not found", retryable: false, opening: true };
const MINUTE = 60_000;

/** An agent with a parent, whose ACP program has named its session, completed a turn, and died in the next one. */
function died(): AgentFixture {
  const fixture = new AgentFixture();
  fixture.create("p");
  fixture.create("a", { parent: "p", provider: "acp", settings: { recovery: "auto" } });
  fixture.send("a", "m1");
  fixture.start("a");
  fixture.says("a", { kind: "session", session: "ses_1" }, { kind: "text", text: "fine" });
  fixture.done("a");
  fixture.send("a", "m2", "the second message");
  fixture.takeAll("a");
  fixture.ends("a", null, "SIGKILL");
  fixture.wait(MINUTE);
  fixture.do({ kind: "wake", id: "a" });
  return fixture;
}

/** Its session cannot be loaded. The prompt was never given to the process: nothing can be said in a closed session. */
function lost(): AgentFixture {
  const fixture = died();
  const { generation } = fixture.agent("a");
  fixture.do({ kind: "started", id: "a", generation, child: { pid: 9, startTime: 9, bootId: "boot" }, holder: 8 });
  fixture.says("a", LOST);
  return fixture;
}

function handed(fixture: AgentFixture): string {
  const entry = fixture.agent("a").outbox.entries.find(({ kind }) => kind === "prompt");
  return entry?.kind === "prompt" ? entry.handed.text : "";
}

test("a session that cannot be loaded stops its process and waits with the reason, its turn in hand; nothing restarts it", () => {
  const fixture = lost();
  expect(fixture.state("a")).toBe("suspended");
  const { reason, unresumable } = fixture.agent("a").held ?? {};
  expect([reason, unresumable]).toEqual([
    "Its conversation cannot be resumed: Session not found " +
      "A new one, with what was said so far: holdfast agent retry a --fresh",
    true,
  ]);
  expect(fixture.effects("a")[0]).toMatchObject({ kind: "stop", signal: "SIGTERM" });
  fixture.ends("a", 143);
  fixture.wait(60 * MINUTE);
  fixture.do({ kind: "wake", id: "a" });
  expect([fixture.agent("a").process.kind, fixture.agent("a").turn?.number]).toEqual(["Idle", 2]);
  expect(fixture.agent("p").inbox.map(({ kind }) => kind)).toEqual(["child.crashed"]);
  expect(fixture.replayed().agent("a")).toEqual(fixture.agent("a"));
});

test("FR1 its parent's message does not restart it, a person's does, and it waits again if it fails again", () => {
  const fixture = lost();
  fixture.ends("a", 143);
  fixture.start("p");
  fixture.call("p", "c1", "send_message", { to: "a", text: "go on" });
  expect(fixture.state("a")).toBe("suspended");
  expect(fixture.do({ kind: "retry", id: "a" })).toContain("process.starting a");
  expect(fixture.effects("a")[0]).toMatchObject({ kind: "start", generation: 3 });
});

test("FR2 FR3 retry with a history begins a new conversation: its first prompt has the history between marks, and the turn's messages", () => {
  const fixture = lost();
  fixture.ends("a", 143);
  fixture.do({ kind: "retry", id: "a", history: "[the user wrote]\nm1" });
  const [, mark = ""] = /<history ([0-9a-f]{16})>/.exec(handed(fixture)) ?? [];
  expect(handed(fixture)).toContain(`<history ${mark}>\n[the user wrote]\nm1\n</history ${mark}>`);
  expect(handed(fixture)).toEndWith("the second message");
  const { providerSession, resumable, history } = fixture.agent("a");
  expect([providerSession === "ses_1", resumable, history]).toEqual([false, false, ""]);
  fixture.start("a");
  fixture.says("a", { kind: "session", session: "ses_2" });
  fixture.done("a");
  expect([fixture.state("a"), fixture.agent("a").providerSession]).toEqual(["idle", "ses_2"]);
  fixture.send("a", "m3");
  expect(handed(fixture)).toBe("m3"); // The history was told once.
  expect(fixture.replayed().agent("a")).toEqual(fixture.agent("a"));
});

test("a new conversation begins with the next message if there is no turn; it is refused while a process has the old one", () => {
  const fixture = new AgentFixture();
  fixture.create("a", { provider: "acp" });
  fixture.send("a", "m1");
  fixture.start("a");
  fixture.says("a", { kind: "session", session: "ses_1" });
  fixture.done("a");
  expect(fixture.refusal({ kind: "retry", id: "a", history: "" })).toBe("running");
  fixture.ends("a", 0);
  fixture.do({ kind: "retry", id: "a", history: "" });
  fixture.send("a", "m2");
  expect(handed(fixture)).toEndWith("Nothing of it is on record.\n\nm2");
  fixture.create("bare", { provider: "openai" });
  expect(fixture.refusal({ kind: "retry", id: "bare", history: "" })).toBe("no-session");
});

test("a new session that cannot be opened fails the turn at once, with the reason, and keeps its messages", () => {
  const fixture = new AgentFixture();
  fixture.create("a", { provider: "acp" });
  fixture.send("a", "m1");
  const { generation } = fixture.agent("a");
  fixture.do({ kind: "started", id: "a", generation, child: { pid: 9, startTime: 9, bootId: "boot" }, holder: 8 });
  fixture.says("a", { ...LOST, reason: "Authentication required" });
  expect(fixture.agent("a").failure?.reason).toBe("It could not open a session: Authentication required");
  expect([fixture.state("a"), fixture.agent("a").inbox.length]).toEqual(["suspended", 1]);
  fixture.ends("a", 0);
  expect(fixture.do({ kind: "retry", id: "a" })).toContain("process.starting a");
});

test("a process that is not started because its conversation is gone waits for the same choice", () => {
  const fixture = died();
  const { generation } = fixture.agent("a");
  fixture.do({ kind: "start-failed", id: "a", generation, reason: "there is no transcript", unresumable: true });
  expect(fixture.agent("a").held?.unresumable).toBe(true);
  expect(fixture.agent("a").held?.reason).toContain("cannot be resumed: there is no transcript");
});

test("S4 a process that is silent until it is killed is given up after five times, however long that takes; a word starts over", () => {
  const fixture = new AgentFixture();
  fixture.create("a");
  fixture.send("a", "m1");
  const hang = () => {
    fixture.start("a");
    for (const ms of [5 * MINUTE, 10_000]) {
      fixture.wait(ms);
      fixture.do({ kind: "wake", id: "a" });
    }
    fixture.ends("a", null, "SIGKILL");
    fixture.wait(MINUTE);
    fixture.do({ kind: "wake", id: "a" });
  };
  for (let time = 1; time <= 4; time += 1) hang();
  fixture.start("a");
  fixture.says("a", { kind: "text", text: "at last" });
  fixture.ends("a", 1);
  fixture.wait(MINUTE);
  fixture.do({ kind: "wake", id: "a" });
  for (let time = 1; time <= 3; time += 1) hang();
  expect(fixture.state("a")).toBe("working");
  hang();
  expect(fixture.state("a")).toBe("crashed");
  const { process: program } = fixture.agent("a");
  expect(program.kind === "PermanentlyFailed" ? program.reason : "").toContain("5 times in a row without");
  fixture.do({ kind: "retry", id: "a" });
  hang();
  expect(fixture.state("a")).toBe("working");
});

const BASH = { kind: "tool", use: "t1", tool: "Bash", input: { command: "make deploy" } } as const;

function diedWith(...events: ProviderEvent[]): string {
  const fixture = new AgentFixture();
  fixture.create("a", { provider: "claude" });
  fixture.send("a", "m1");
  fixture.start("a");
  fixture.says("a", ...events);
  for (const { id, request } of fixture.agent("a").prompts) {
    if (request !== "answered") continue;
    const answer = { decision: "allow", message: "", always: false } as const;
    fixture.do({ kind: "answer", id: "a", prompt: id, answer: "x", ...answer });
    fixture.takeAll("a");
  }
  fixture.ends("a", null, "SIGKILL");
  fixture.wait(MINUTE);
  fixture.do({ kind: "wake", id: "a" });
  expect(fixture.replayed().agent("a")).toEqual(fixture.agent("a"));
  return handed(fixture);
}

test("AG-7(a) the recovery prompt names the tool calls that were in flight: their outcome is unknown", () => {
  expect(diedWith(BASH)).toEndWith(
    "You had called Bash `make deploy`; its outcome is unknown: check before you repeat it.",
  );
  const listed = { ...BASH, use: "t2", tool: "execute", input: { command: ["rm", "-r", "x"] } };
  expect(diedWith(BASH, listed)).toContain("called execute `rm -r x`;");
  const other = { kind: "tool", use: "t3", tool: "Write", input: { file_path: "/w/a" } } as const;
  expect(diedWith(other)).toContain('called Write `{"file_path":"/w/a"}`;');
});

test("a call that has its result is not named, nor one of another turn; one that waited for an answer did not run", () => {
  expect(diedWith(BASH, { kind: "tool-done", use: "t1", ok: true, text: "" })).not.toContain("make deploy");
  const ask = { kind: "ask", tool: "Bash", input: { command: "make deploy" }, use: "t1" } as const;
  expect(diedWith(BASH, { ...ask, request: "open" })).toContain(
    "You had asked to call Bash `make deploy`; it was not answered, so it did not run.",
  );
  expect(diedWith(BASH, { ...ask, request: "answered" })).toContain("its outcome is unknown");
});
