// Sessions for checkpoint tests: complete, and of realistic size.
import type { CheckpointSession } from "../../src/core/terminal/checkpoint.ts";
import { applyTerminal } from "../../src/core/terminal/events.ts";
import type { Recipe, Terminal } from "../../src/core/terminal/terminal.ts";

/** The n-th session; `over` overrides fields. */
export function sessionOf(n: number, over: Partial<CheckpointSession> = {}): CheckpointSession {
  const id = `0190b6a0-0000-7000-8000-${String(n).padStart(12, "0")}`;
  return {
    sessionId: id,
    terminalId: id,
    laneId: "main",
    name: `t${n}`,
    workingDirectory: `/srv/project-${n}`,
    environmentVariables: { PATH: "/usr/bin:/bin", TERM: "xterm-256color" },
    scrollbackSnapshot: "",
    multiplexerSessionName: null,
    shellCommand: "/bin/bash",
    argv: ["/bin/bash"],
    size: { cols: 80, rows: 24 },
    generation: 1,
    policy: "auto",
    bootId: "boot-1",
    screen: null,
    foreground: null,
    ...over,
  };
}

/** The n-th terminal just after its creation; `over` overrides fields. */
export function terminalOf(
  n: number,
  over: Partial<Omit<Terminal, "recipe">> & { readonly recipe?: Partial<Recipe> } = {},
): Terminal {
  const { recipe, ...rest } = over;
  const usual = { argv: ["sh"], cwd: "/", env: {}, size: { cols: 80, rows: 24 }, ...recipe };
  const data = { name: `t${n}`, lane: "main", generation: 1, at: "2025-01-01T00:00:00.000Z", ...usual };
  return { ...applyTerminal(undefined, { event: "terminal.created", id: sessionOf(n).terminalId, data }), ...rest };
}

/** What a shell's screen serializes to: a prompt with colours, then plain text, `bytes` in all. */
export function screenText(bytes: number): string {
  const line =
    "\u001b[1;32mann@box\u001b[0m:\u001b[1;34m~/src/holdfast\u001b[0m$ make test && echo done\r\nok 12 files checked, 0 errors\r\n";
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

/** A session with a full snapshot and a typical desktop environment. */
export function typicalSession(n: number): CheckpointSession {
  const environment = Array.from({ length: 45 }, (_, at) => [`VARIABLE_NUMBER_${at}`, "x".repeat(20 + at)]);
  const screen = { offset: 123_456, cols: 120, rows: 40, exact: true, at: "2026-01-01T00:00:00.000Z" };
  return sessionOf(n, {
    environmentVariables: Object.fromEntries(environment),
    scrollbackSnapshot: screenText(10_240),
    screen: { ...screen, title: "bash", alternate: false },
  });
}
