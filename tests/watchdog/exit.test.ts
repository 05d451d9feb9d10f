// The matrix of exits: every kind of exit, requested and not.
import { expect, test } from "bun:test";
import { classifyExit, type SeenEnding } from "../../src/watchdog/exit.ts";
import { ANOTHER_RUNS } from "../../src/wire/heartbeat.ts";

const exited = (code: number): SeenEnding => ({ kind: "exited", code });
const signalled = (signal: string): SeenEnding => ({ kind: "signalled", signal });

/** The verdict if the exit was not requested, and if it was. */
const MATRIX: readonly (readonly [ending: SeenEnding, unasked: string, asked: string])[] = [
  [exited(0), "graceful", "graceful"],
  [exited(1), "EXIT_CODE", "EXIT_CODE"],
  [exited(2), "EXIT_CODE", "EXIT_CODE"],
  [exited(127), "EXIT_CODE", "EXIT_CODE"],
  [exited(143), "EXIT_CODE", "EXIT_CODE"],
  [exited(255), "EXIT_CODE", "EXIT_CODE"],
  [exited(ANOTHER_RUNS), "another runs", "another runs"],
  [signalled("SIGTERM"), "SIGNAL", "graceful"],
  ...["SIGKILL", "SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE", "SIGINT", "SIGHUP", "SIGXFSZ", "63"].map(
    (signal) => [signalled(signal), "SIGNAL", "SIGNAL"] as const,
  ),
  [{ kind: "vanished" }, "HEARTBEAT_TIMEOUT", "graceful"],
  [{ kind: "killed" }, "SIGNAL", "graceful"],
];

for (const [ending, unasked, asked] of MATRIX) {
  test(`WD-5(a,b,c,d) ${Object.values(ending).join(" ")}: ${unasked} if not requested, ${asked} if requested`, () => {
    const verdicts = [false, true].map((wasAsked) => classifyExit(ending, wasAsked));
    const words = verdicts.map((verdict) => (verdict.kind === "crash" ? verdict.reason : verdict.kind));
    expect<readonly string[]>(words).toEqual([unasked, asked]);
  });
}
