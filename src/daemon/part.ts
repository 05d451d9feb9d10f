// The contract of the daemon's four parts (terminal, tmux, workflow, agent), and the border of each.
// PB1. Everything that a part does for one of its sessions runs through its border: handlers, folding, effects and
//      their outcomes. Whatever they throw is handled there, in one place.
// PB2. A session that does not fold is set aside, unless it was a refusal that passes (FO4 of fold.ts). A Fault in a
//      request is the answer to that request (Z4 of rpc-server.ts). Anything else is a bug, and ends the process.
// PB3. Until all sessions of a part are read, none is shown: an incomplete list would look complete. Until the daemon
//      is live, nothing is changed.
import { isFault } from "../base/fault.ts";
import { type Result, refused } from "../base/result.ts";
import type { ReportItem } from "../core/recovery.ts";
import type { EventLog } from "../log/event-log.ts";
import type { Config } from "../wire/files/config-schema.ts";
import { type PARAMS, type Params, paramsOf } from "../wire/rpc/params.ts";
import type { StatusResult } from "../wire/rpc/rpc.ts";
import type { Clock } from "../world/clock.ts";
import type { Garbage } from "./gc.ts";
import type { DaemonPorts } from "./ports.ts";
import type { StageWork } from "./recovery-run.ts";
import type { Given, Handler, Handlers } from "./rpc-server.ts";
import type { Hooks, Kind } from "./session-store.ts";
import { inSlices, type SliceStep } from "./slices.ts";
import type { Times } from "./timekeeper.ts";

export type Retention = Config["retention"];
export type StatusCounts = StatusResult["counts"];
/** What is being read from the logs, and the progress so far. */
export type Reading = NonNullable<StatusResult["recovery"]["reading"]>;

export type Part = {
  /** Merged by daemon.ts. */
  readonly handlers: Handlers;
  /** Reads all sessions from the log. Runs inside INVENTORYING with its stage timeout; returns what was set aside. */
  fold(progress: (reading: Reading) => void): Promise<readonly ReportItem[]>;
  readonly stages: Partial<Pick<StageWork, "RESTORING" | "RECONCILING">>;
  /** Called when the daemon is live: from here on everything continues by itself. */
  goLive(): void;
  /** The times that its sessions wait for; absent: for none. */
  waits?(): Iterable<string>;
  /** Sets the timers for them again: the clock was set, or the machine was asleep. */
  remindAll?(): void;
  /** Called on every heartbeat while the daemon is live. */
  tick(): void;
  /** Begins nothing new from the moment of the call; resolves when everything begun is finished. */
  stop(): Promise<void>;
  counts(): Partial<StatusCounts>;
  garbage(limits: Retention): Garbage[];
};

/** What a part is opened with. */
export type PartPorts = DaemonPorts & { readonly log: EventLog; readonly times: Times; isLive(): boolean };

export const NOT_LIVE = refused(
  "not-live",
  "The daemon is still recovering.",
  "Try again in a moment; `holdfast recovery status` shows how far it is.",
);

type BorderPorts = { isLive(): boolean; onBug(error: unknown): void; say(words: string): void };

/** PB1 */
export class PartBorder {
  readonly #ports: BorderPorts;
  readonly #what: string;
  #isRead = false;

  /** `what`: the plural name of its sessions. */
  constructor(ports: BorderPorts, what: string) {
    this.#ports = ports;
    this.#what = what;
  }

  get isRead(): boolean {
    return this.#isRead;
  }

  /** A read-only request (PB3). */
  looking(handler: Handler): Handler {
    return async (params) => (this.#isRead ? handler(params) : NOT_LIVE);
  }

  /** A request that changes something (PB3), once its parameters are checked. */
  changing<M extends keyof typeof PARAMS>(
    method: M,
    handler: (params: Params<M>) => Promise<Result<unknown>>,
  ): Handlers {
    const checked = async (given: Given) => {
      const params = paramsOf(method, given);
      return params.ok ? handler(params.value) : params;
    };
    return { [method]: (given) => this.whenLive(() => checked(given)) };
  }

  async whenLive<T>(work: () => Promise<Result<T>>): Promise<Result<T>> {
    return this.#ports.isLive() ? work() : NOT_LIVE;
  }

  /** Folds all sessions, in slices (fold.ts); afterwards they can be shown. */
  async foldAll<T>(clock: Clock, steps: Generator<FoldStep, T>, progress: (reading: Reading) => void): Promise<T> {
    const folded = await inSlices(clock, steps, ({ done, total }) => progress({ what: this.#what, done, total }));
    this.#isRead = true;
    return folded;
  }

  /** Folds one session: returns why it does not fold, or undefined if it does (PB2). */
  *foldOne(steps: Generator<HowFar, string | undefined>): Generator<HowFar, Trouble | undefined> {
    try {
      const reason = yield* steps;
      return reason === undefined ? undefined : { reason, passes: false };
    } catch (error) {
      if (isFault(error, ...REFUSED_NOW))
        return { reason: `its log could not be read: ${error.message}. ${error.hint}`, passes: true };
      return { reason: `its events do not fold: ${error instanceof Error ? error.message : error}`, passes: false };
    }
  }

  /** What the store does after a decision: notifications and effects of all sessions pass through here. */
  hooks<K extends Kind>(hooks: Omit<Hooks<K>, "onBug">): Hooks<K> {
    const { settled } = hooks;
    return {
      publish: (event) => this.#effect(() => hooks.publish(event)),
      perform: (effect) => this.#effect(() => hooks.perform(effect)),
      ...(settled && { settled: (...decided) => this.#effect(() => settled(...decided)) }),
      onBug: this.#ports.onBug,
    };
  }

  #effect(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (isFault(error)) throw error; // PB2
      this.#ports.onBug(error);
    }
  }

  /** Runs work whose result is not awaited. */
  outcome(work: () => Promise<unknown>): void {
    void work().catch(this.#ports.onBug);
  }

  /** For work that the disk may refuse: a Fault is logged, and nothing else stops. */
  tolerating(work: () => Promise<void>): Promise<void> {
    return tolerating(this.#ports.say, work);
  }
}

export type HowFar = { readonly done: number; readonly total: number };
export type FoldStep = HowFar & SliceStep;
/** Why a session does not fold. `passes`: the system refused for now, and it may fold a moment later. */
export type Trouble = { readonly reason: string; readonly passes: boolean };

/** The system lacks something that other programs give back. */
const REFUSED_NOW = ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EINTR"] as const;

/** Logs a Fault; any other error is passed to the caller. */
export async function tolerating(say: (words: string) => void, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isFault(error)) throw error;
    say(`${error.message}. ${error.hint}`);
  }
}
