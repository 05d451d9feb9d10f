import { describe, expect, test } from "bun:test";
import { decideTerminal } from "./decide.ts";
import { applyTerminal } from "./events.ts";
import type { RestoreStart } from "./restoration.ts";
import { effectsOf, type Terminal, type TerminalCommand } from "./terminal.ts";

const AT = "2026-01-01T00:00:00.000Z";
const EVIDENCE = { workingDirectory: "/w", foreground: null };
const START: RestoreStart = {
  argv: ["bash"],
  cwd: "/w",
  typed: "make",
  message: "what happened",
  reason: "the machine went down",
  notes: ["a note"],
  offset: 12,
  screenAgeMs: 500,
  evidence: EVIDENCE,
};
const CREATE: TerminalCommand = {
  kind: "create",
  id: "t1",
  name: "one",
  lane: "main",
  recipe: { argv: ["make"], cwd: "/w", env: {}, size: { cols: 80, rows: 24 } },
};
const STARTED: TerminalCommand = {
  kind: "started",
  id: "t1",
  child: { pid: 7, startTime: 70, bootId: "boot" },
  holder: 6,
};
const RESTORE: TerminalCommand = { kind: "restore", id: "t1", generation: 1, start: START };
const FOUND: TerminalCommand = { ...RESTORE, lost: { reason: "the machine went down", evidence: EVIDENCE } };
const ROLLBACK: TerminalCommand = { kind: "rollback", id: "t1" };
const ENDED: TerminalCommand = { kind: "ended", id: "t1", code: 0, signal: null };

/** The terminal after these commands, and the result of the last one: its events, or the code of its refusal. */
function after(...commands: readonly TerminalCommand[]): { terminal: Terminal; last: string } {
  const terminals = new Map<string, Terminal>();
  let last = "";
  for (const command of commands) {
    const decided = decideTerminal(terminals, command, AT);
    last = decided.ok ? decided.value.map(({ event }) => event).join(" ") : `no: ${decided.error.code}`;
    for (const event of decided.ok ? decided.value : []) {
      terminals.set(event.id, applyTerminal(terminals.get(event.id), event));
    }
  }
  const terminal = terminals.get("t1");
  if (terminal === undefined) throw new Error("it was created");
  return { terminal, last };
}

describe("restoring", () => {
  test("a terminal found lost starts its next generation, with all that is known of it", () => {
    const { terminal, last } = after(CREATE, STARTED, { kind: "signal", id: "t1", signal: "SIGINT" }, FOUND);
    expect(last).toBe("terminal.uncertain terminal.restored");
    expect(terminal).toMatchObject({ generation: 2, state: { kind: "starting" }, signal: undefined });
    expect(terminal.restored).toEqual({ ...START, at: AT, accepted: false });
    expect(terminal.recipe.argv).toEqual(["make"]);
    expect(effectsOf(terminal)).toEqual([{ kind: "start", id: "t1" }]);
  });

  test("of two callers that find it, one starts it; a third starts the generation after that", () => {
    expect(after(CREATE, STARTED, FOUND, FOUND).last).toBe("");
    const third = after(CREATE, STARTED, FOUND, { ...FOUND, generation: 2 });
    expect(third.terminal).toMatchObject({ generation: 3, restorations: [AT, AT] });
  });

  test("a running terminal is not restored; a waiting one is, and an ended one on request", () => {
    expect(after(CREATE, STARTED, RESTORE).last).toBe("no: still-running");
    expect(after(CREATE, RESTORE).last).toBe("no: still-running");
    const lost = { kind: "lost", id: "t1", reason: "gone", evidence: EVIDENCE } as const;
    expect(after(CREATE, STARTED, lost).terminal.state).toEqual({
      kind: "uncertain",
      reason: "gone",
      child: STARTED.child,
      evidence: EVIDENCE,
    });
    expect(after(CREATE, STARTED, lost, RESTORE).last).toBe("terminal.restored");
    expect(after(CREATE, STARTED, ENDED, RESTORE).last).toBe("terminal.restored");
  });

  test("a terminal that was stopped with the machine is marked as such", () => {
    const stopped: TerminalCommand = { kind: "ended", id: "t1", code: null, signal: "SIGHUP", stoppedIn: "boot" };
    expect(after(CREATE, STARTED, stopped).terminal.state).toMatchObject({ kind: "ended", stoppedIn: "boot" });
    expect(after(CREATE, STARTED, ENDED).terminal.state).not.toHaveProperty("stoppedIn");
  });
});

describe("accepting and rolling back", () => {
  const accept: TerminalCommand = { kind: "accept", id: "t1", by: "me" };

  test("a rollback ends its program, and then it is as it was found", () => {
    const asked = after(CREATE, STARTED, FOUND, STARTED, ROLLBACK);
    expect(asked.last).toBe("terminal.rollback.requested");
    expect(effectsOf(asked.terminal)).toEqual([{ kind: "end", id: "t1" }]);
    expect(after(CREATE, STARTED, FOUND, STARTED, ROLLBACK, ROLLBACK).last).toBe("");
    expect(after(CREATE, STARTED, FOUND, STARTED, ROLLBACK, accept).last).toBe("");
    expect(after(CREATE, STARTED, FOUND, STARTED, ROLLBACK, { ...RESTORE, generation: 2 }).last).toBe("no: not-yet");
    const done = after(CREATE, STARTED, FOUND, STARTED, ROLLBACK, ENDED);
    expect(done.last).toBe("terminal.rolledback");
    expect(done.terminal).toMatchObject({ generation: 2, restored: undefined, rollingBack: false });
    expect(done.terminal.state).toEqual({
      kind: "uncertain",
      reason: "rolled back; before that: the machine went down",
      child: STARTED.child,
      evidence: EVIDENCE,
      rolledBack: true,
    });
    expect(effectsOf(done.terminal)).toEqual([]);
  });

  test("reports about the rolled back program no longer count; those of the next restoration do", () => {
    for (const late of [ENDED, STARTED, { kind: "lost", id: "t1", reason: "x" } as const]) {
      expect(after(CREATE, STARTED, FOUND, STARTED, ROLLBACK, ENDED, late).last).toBe("");
    }
    const again = after(CREATE, STARTED, FOUND, STARTED, ROLLBACK, ENDED, { ...RESTORE, generation: 2 });
    expect(again.terminal).toMatchObject({ generation: 3, state: { kind: "starting" } });
  });

  test("an ended one is rolled back at once; one that is still starting ends when it has started", () => {
    expect(after(CREATE, STARTED, FOUND, STARTED, ENDED, ROLLBACK).last).toBe("terminal.rolledback");
    const starting = after(CREATE, STARTED, FOUND, ROLLBACK, STARTED);
    expect(starting.terminal.rollingBack).toBe(true);
    expect(effectsOf(starting.terminal)).toEqual([{ kind: "end", id: "t1" }]);
  });

  test("only restored terminals, and not accepted ones", () => {
    expect(after(CREATE, STARTED, ROLLBACK).last).toBe("no: not-restored");
    expect(after(CREATE, STARTED, accept).last).toBe("");
    expect(after(CREATE, STARTED, FOUND, STARTED, accept).last).toBe("terminal.accepted");
    expect(after(CREATE, STARTED, FOUND, STARTED, accept, accept).last).toBe("");
    expect(after(CREATE, STARTED, FOUND, STARTED, accept, ROLLBACK).last).toBe("no: accepted");
  });
});

test("a policy is kept, and setting the same one changes nothing", () => {
  const ask: TerminalCommand = { kind: "policy", id: "t1", policy: "ask" };
  expect(after(CREATE).terminal.policy).toBe("auto");
  expect(after({ ...CREATE, policy: "never" }).terminal.policy).toBe("never");
  expect(after(CREATE, ask)).toMatchObject({ last: "terminal.policy.changed", terminal: { policy: "ask" } });
  expect(after(CREATE, ask, ask).last).toBe("");
  expect(after({ ...CREATE, unset: ["A_KEY"] }).terminal.unset).toEqual(["A_KEY"]);
});
