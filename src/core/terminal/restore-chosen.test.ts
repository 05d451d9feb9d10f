// A second restoration: what a person chose or left at the prompt the last time.
import { expect, test } from "bun:test";
import { NO_SESSIONS } from "./coding-agent.ts";
import type { Evidence, Restored } from "./restoration.ts";
import { evidenceFor, planRestore } from "./restore.ts";
import type { Terminal } from "./terminal.ts";

const AT = "2026-01-01T00:10:00.000Z";
const IDLE: Evidence = { workingDirectory: "/w", foreground: null };
const TOP: Evidence = { workingDirectory: "/w", foreground: { argv: ["top"], cwd: "/w" } };

/** The next start of a terminal with this command, of which `seen` was in the checkpoint. */
function again(argv: readonly string[], last: Partial<Restored>, seen: Evidence) {
  const start = { argv: ["/bin/bash"], cwd: "/w", typed: "", message: "", reason: "", notes: [] };
  const terminal: Terminal = {
    ...{ id: "t1", name: "one", lane: "main", generation: 2, createdAt: AT, signal: undefined, unset: [] },
    recipe: { argv, cwd: "/w", env: {}, size: { cols: 80, rows: 24 } },
    state: { kind: "running", pid: 1, startTime: 1, bootId: "b", holder: 2 },
    restored: { ...start, offset: 0, screenAgeMs: null, evidence: null, at: AT, accepted: false, ...last },
    ...{ policy: "auto", restorations: [], rollingBack: false, removed: false },
  };
  const facts = { reason: "", at: AT, doubt: null, sessions: NO_SESSIONS, directory: "/w", shell: "/bin/bash" };
  return planRestore(terminal, {
    ...{ ...facts, rules: [], way: "plan", asked: false },
    evidence: evidenceFor(terminal, seen),
  });
}

test("RE6 the shell that a person chose is what comes back, and what it was opened with is not forgotten", () => {
  const opened = "opened with: ssh host (`holdfast restore --as recipe` runs it)";
  const shell = { way: "shell" } as const;
  const plain = { argv: ["/bin/bash"], typed: "" };
  expect(again(["ssh", "host"], {}, IDLE)).toMatchObject({ argv: ["ssh", "host"] });
  expect(again(["ssh", "host"], shell, IDLE)).toMatchObject({ ...plain, notes: ["its shell", opened] });
  expect(again(["bash"], { ...shell, evidence: TOP }, IDLE)).toMatchObject({ ...plain, notes: ["its shell"] });
  expect(again(["ssh", "host"], { ...shell, accepted: true }, TOP)).toMatchObject({ ...plain, typed: "top" });
});

test("RE7 a command that was only typed is typed again, also after the terminal was looked at", () => {
  const typed = { typed: "make all", accepted: true };
  expect(again(["make", "all"], typed, IDLE)).toMatchObject({ argv: ["/bin/bash"], typed: "make all" });
  expect(again(["make", "all"], typed, TOP)).toMatchObject({ typed: "top" });
  expect(again(["bash"], typed, IDLE)).toMatchObject({ typed: "" });
  expect(again(["make", "all"], { ...typed, typed: "make all\r" }, IDLE)).toMatchObject({ typed: "" });
});
