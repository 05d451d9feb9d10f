// The process of an agent, as a table (SP-1 … SP-3), and what each state knows. Decisions to spawn, retry or adopt
// consult the table. What the world reports (a process has ended) is recorded even if the table does not expect it:
// refusing a fact would leave the agent stuck. Tests check every decision against the table (tests/agent/legal.ts).
// S1. `Idle` is without a process: never started, ended, or suspended. `Detached` is after a crash of the daemon: its
//     holder may or may not be alive.
// S2. Five crashes within 60 s, or a failed start, are permanent: it is reported, and waits for a person (`retry`). A
//     start that failed for nothing about the program is not: it is tried again for as long as it takes.
// S3. Deadlines are data: a process is hung because `wake` came after its time, not because a timer ran.
// S4. Crashes in turns without a word in between are counted as well, however long they are apart: one that is silent
//     for five minutes each time would otherwise be restarted for ever.
import { backoffMs } from "../../base/backoff.ts";
import { isExhausted, newBudget, spend } from "../../base/budget.ts";
import { machine } from "../../base/machine.ts";
import type { Child } from "../terminal/terminal.ts";
import type { StopReason } from "./events.ts";

export type ProcessState =
  /** `restart`: it crashed, and is to run again (SP-2). */
  | { readonly kind: "Idle"; readonly restart: boolean }
  | { readonly kind: "Spawning"; readonly since: string }
  /** `heardAt`: its last sign of life, or the start of its turn if that came later. */
  | { readonly kind: "Running"; readonly child: Child; readonly holder: number; readonly heardAt: string }
  /** Ending: because it is hung, or because we want it to. */
  | {
      readonly kind: "Hung" | "Stopping";
      readonly reason: StopReason;
      readonly signal: "SIGTERM" | "SIGKILL" | null;
      readonly killAt: string | null;
    }
  | { readonly kind: "Detached" }
  /** `reason`: why it could not be started, if it has not crashed. */
  | { readonly kind: "BackoffWait"; readonly until: string; readonly reason?: string }
  | { readonly kind: "PermanentlyFailed"; readonly reason: string; readonly at: string };

export type ProcessChange =
  | "spawn"
  | "started"
  | "spawn failed"
  | "spawn refused for now"
  | "exit 0"
  | "exit, not 0"
  | "silent for 5 min"
  | "stop"
  | "ended"
  | "killed"
  | "crash: under 5 in 60 s"
  | "crash: 5 in 60 s"
  | "daemon restarted"
  | "adopted"
  | "gone"
  | "backoff over"
  | "retry";

/** `Crashed` and `Killed` are passed within one decision: an agent is never found in them. */
type Passing = "Crashed" | "Killed";

export const processMachine = machine<ProcessState["kind"] | Passing, ProcessChange>({
  name: "Agent process",
  initial: "Idle",
  table: {
    Idle: { spawn: "Spawning" },
    Spawning: {
      started: "Running",
      "spawn failed": "PermanentlyFailed",
      "spawn refused for now": "BackoffWait",
      // It may end before its start is recorded.
      "exit 0": "Idle",
      "exit, not 0": "Crashed",
      stop: "Stopping",
      "daemon restarted": "Detached",
    },
    Running: {
      "exit 0": "Idle",
      "exit, not 0": "Crashed",
      "silent for 5 min": "Hung",
      stop: "Stopping",
      "daemon restarted": "Detached",
    },
    Hung: { killed: "Killed", stop: "Stopping", "daemon restarted": "Detached" },
    Killed: { "crash: under 5 in 60 s": "BackoffWait", "crash: 5 in 60 s": "PermanentlyFailed" },
    Crashed: { "crash: under 5 in 60 s": "BackoffWait", "crash: 5 in 60 s": "PermanentlyFailed" },
    Stopping: { ended: "Idle", "daemon restarted": "Detached" },
    Detached: { adopted: "Running", gone: "Idle", stop: "Stopping" },
    BackoffWait: { "backoff over": "Idle", retry: "Idle" },
    PermanentlyFailed: { retry: "Idle" },
  },
});

export const CRASHES = 5;
export const CRASH_WINDOW_MS = 60_000;

/** S2. The daemon has tried it several times by then. */
export const REFUSED_MS = 15_000;

export type CrashVerdict =
  | { readonly kind: "restart"; readonly waitMs: number; readonly crashes: readonly number[] }
  | { readonly kind: "permanent"; readonly why: string };

/**
 * S2, S4. `crashes` are the times of earlier ones, `fruitless` counts this one too. Not random: restarts are few, and a
 * reader can predict the next one.
 */
export function judgeCrash(crashes: readonly number[], fruitless: number, now: number): CrashVerdict {
  const budget = spend(newBudget(CRASHES, CRASH_WINDOW_MS, crashes), now);
  if (isExhausted(budget, now))
    return { kind: "permanent", why: `It crashed ${budget.spent.length} times within a minute.` };
  if (fruitless >= CRASHES)
    return { kind: "permanent", why: `It ended ${fruitless} times in a row without having said anything.` };
  return { kind: "restart", waitMs: backoffMs(budget.spent.length, 0), crashes: budget.spent };
}

/** Whether there is, or may be, a process: it holds its slot until it is known to have ended. */
export function isAlive({ kind }: ProcessState): boolean {
  return kind === "Spawning" || kind === "Running" || kind === "Hung" || kind === "Stopping" || kind === "Detached";
}
