// The contract of the daemon's parts (terminal, tmux, workflow, agent, notify), and the border of each.
// PB1. Everything that a part does for one of its sessions runs through its border: handlers, folding, effects and
//      their outcomes. Whatever they throw is handled there, in one place.
// PB2. Whatever one session's code throws stays with that session. If it decides, that command is refused (U7 of
//      session-store.ts). If it folds, applies, adopts, decodes or performs, the session is set aside (fold.ts) and its
//      programs are left to their holders; the next daemon tries it again. A Fault is not a bug: in a fold it may pass
//      (FO4 of fold.ts), in a request it is the answer (Z4 of rpc-server.ts). What belongs to no session, and whatever
//      the log throws, ends the process: memory and disk may disagree.
// PB3. Until all sessions of a part are read, none is shown: an incomplete list would look complete. Until the daemon
//      is live, nothing is changed.
// PB4. A request that changes something and names a session finds it alive until it is answered: one that is archived
//      is brought back first (AR4 of archive.ts).
import { isFault, mayPass } from "../base/fault.ts";
import { ok, type Result, refused } from "../base/result.ts";
import type { Caller } from "../core/principal.ts";
import type { ReportItem } from "../core/recovery.ts";
import type { Begun } from "../home/held/held-state.ts";
import type { EventLog } from "../log/event-log.ts";
import type { ArchivedLine } from "../log/session/archive-index.ts";
import { type Bytes, PoisonedBytes } from "../log/session/poisons.ts";
import type { Config } from "../wire/files/config-schema.ts";
import type { Page, PagedMethod, Row } from "../wire/rpc/page.ts";
import { type PARAMS, type Params, paramsOf } from "../wire/rpc/params.ts";
import type { StatusResult, Trouble as UserTrouble } from "../wire/rpc/rpc.ts";
import type { Clock } from "../world/clock.ts";
import { inSlices, type SliceStep } from "../world/slices.ts";
import { isLostHome } from "./fleet/lost-home.ts";
import type { Garbage } from "./gc.ts";
import { listOf, PAGE_LIMITS, type PageLimits, type PageWish, pageOf, type Source } from "./pages.ts";
import type { DaemonPorts } from "./ports.ts";
import type { StageWork } from "./recovery-run.ts";
import type { Given, Handler, Handlers } from "./rpc-server.ts";
import type { Hooks, Kind } from "./session-store.ts";
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
  /** The held programs that its sessions have begun, and that have not ended by their logs; absent: it has none. */
  begun?(): Iterable<BegunProgram>;
  /** Called when the daemon is live: from here on everything continues by itself. */
  goLive(): void;
  /** Called when the operator has left safe mode: what waited for that begins. */
  leftSafeMode?(): Promise<void>;
  /** Called when other settings are in effect: what waited for them begins. */
  reloaded?(): Promise<void>;
  /** The times that its sessions wait for; absent: for none. */
  waits?(): Iterable<string>;
  /** Sets the timers for them again: the clock was set, or the machine was asleep. */
  remindAll?(): void;
  /** Called on every heartbeat while the daemon is live. */
  tick(): void;
  /** Begins nothing new from the moment of the call; resolves when everything begun is finished. */
  stop(): Promise<void>;
  counts(): Partial<StatusCounts>;
  /** What waits for a person. */
  attention?(): Iterable<UserTrouble>;
  /** Its sessions whose programs could not be started yet; absent: it starts none. */
  troubles?(): readonly UserTrouble[];
  garbage(limits: Retention): Garbage[];
  /** The lines of its archive, newest first, if its sessions are removed by `archive_days`; absent: they are not. */
  archived?(): Iterable<ArchivedLine>;
  /** Called when garbage collection has removed sessions from the archive. */
  collected?(): void;
  /** The seq up to which a session's log is not needed: two good checkpoints have it. 0 if all of it is needed. */
  covered?(session: string): number;
  /** Its sessions that were set aside, by id. */
  readonly asides: ReadonlyMap<string, Aside>;
};

/** A program that a session has begun, and that has not ended by its log. `session`: the id. */
export type BegunProgram = Begun & { readonly session: string };

/** A part that keeps no sessions has nothing to fold, count or collect. */
export const NO_SESSIONS = {
  fold: async () => [],
  stages: {},
  counts: () => ({}),
  garbage: () => [],
  asides: new Map<string, never>(),
} as const;

/** What a part is opened with. */
export type PartPorts = DaemonPorts & {
  readonly log: EventLog;
  readonly times: Times;
  isLive(): boolean;
  /** Whether a backup is being written (backup-pin.ts): nothing is archived or removed. */
  isPinned(): boolean;
};

export const NOT_LIVE = refused(
  "not-live",
  "The daemon is still recovering.",
  "Try again in a moment; `holdfast recovery status` shows how far it is.",
);

/** What is refused before the log is open. */
export function notOpen(fleet: DaemonPorts["fleet"]): Result<never> {
  const refusal = fleet?.refusal;
  return refusal === undefined ? NOT_LIVE : { ok: false, error: refusal };
}

type BorderPorts = {
  isLive(): boolean;
  onBug(error: unknown): void;
  say(words: string): void;
  readonly pages?: PageLimits;
};

/** Sets a session of the part aside (fold.ts); undefined if it has no such session. */
type SetAside = (id: string, trouble: Trouble) => ReportItem | undefined;

/** Keeps a session alive during this work. */
type Use = <T>(id: string, work: () => Promise<T>) => Promise<T>;

/** PB1 */
export class PartBorder {
  readonly #ports: BorderPorts;
  readonly #what: string;
  /** The sessions that were set aside, by id. */
  readonly asides = new Map<string, Aside>();
  #isRead = false;
  #setAside: SetAside = () => undefined;
  #use: Use = (_, work) => work();

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
    return async (params, by) => (this.#isRead ? handler(params, by) : NOT_LIVE);
  }

  /** The same, once its parameters are checked. */
  asking<M extends keyof typeof PARAMS>(method: M, handler: (params: Params<M>) => Promise<Result<unknown>>): Handlers {
    const checked = async (given: Given) => {
      const params = paramsOf(method, given);
      return params.ok ? handler(params.value) : params;
    };
    return { [method]: this.looking(checked) };
  }

  /** A request for rows: for a page of them if it has a limit, for all if it has none (PG3 of wire/rpc/page.ts). */
  listing<M extends PagedMethod>(method: M, rows: (params: Params<M>) => Source<Row<M>>): Handlers {
    return this.asking(method, async (params) => ok(this.rows(rows(params), params)));
  }

  rows<T>(source: Source<T>, wish: PageWish): Page<T> | T[] {
    return listed(source, wish, this.#ports.pages);
  }

  /** A request that changes something (PB3), once its parameters are checked. */
  changing<M extends keyof typeof PARAMS>(
    method: M,
    handler: (params: Params<M>, by: Caller | undefined) => Promise<Result<unknown>>,
  ): Handlers {
    const checked = async (given: Given, by: Caller | undefined) => {
      const params = paramsOf(method, given);
      if (!params.ok) return params;
      const work = () => handler(params.value, by);
      return typeof given["id"] === "string" ? this.#use(given["id"], work) : work(); // PB4
    };
    return { [method]: (given, by) => this.whenLive(() => checked(given, by)) };
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
      if (mayPass(error)) return { reason: `its log could not be read: ${error.message}. ${error.hint}`, passes: true };
      return { reason: `its events do not fold: ${wordsOf(error)}`, passes: false, bytes: bytesOf(error) };
    }
  }

  /** PB4. For a request that names something else: it is about this session. */
  using<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.#use(id, work);
  }

  /** PB4. From now on this keeps sessions alive; until then, none is archived. */
  keepsAlive(use: Use): void {
    this.#use = use;
  }

  /** PB2. From now on this sets sessions aside; until then there are none. */
  setsAside(how: SetAside): void {
    this.#setAside = how;
  }

  /** PB2. Something failed for this session alone; returns its line of the report. */
  contain(id: string, error: unknown): ReportItem | undefined {
    if (isLostHome(error)) return undefined; // LH2 of fleet/lost-home.ts: the process ends.
    const reason = isFault(error) ? `${error.message}. ${error.hint}` : `a bug of holdfast: ${wordsOf(error)}`;
    const item = this.setAside(id, { reason, passes: true, bytes: bytesOf(error) });
    if (item === undefined) this.#ports.onBug(error);
    return item;
  }

  /** Returns its line of the report; undefined if there is no such session. */
  setAside(id: string, trouble: Trouble): ReportItem | undefined {
    const known = this.asides.has(id);
    const item = this.#setAside(id, trouble);
    if (item !== undefined && !known)
      this.#ports.say(`${item.what} ${item.name} needs you: ${item.reason.replace(/\.$/, "")}. Next: ${item.next}`);
    return item;
  }

  /** Does something for one session of many (PB2); a Fault goes to the caller. */
  guard(id: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (isFault(error)) throw error;
      this.contain(id, error);
    }
  }

  /** Examines a session in a stage of a recovery: if that fails, its line of the report says so (PB2). */
  async adopting<T>(id: string, work: () => Promise<T>): Promise<T | ReportItem> {
    try {
      return await work();
    } catch (error) {
      const item = isFault(error) ? undefined : this.contain(id, error);
      if (item === undefined) throw error;
      return item;
    }
  }

  /** What the store does after a decision: notifications and effects of all sessions pass through here. */
  hooks<K extends Kind>(hooks: Omit<Hooks<K>, "onBug" | "refuse" | "contain">): Hooks<K> {
    const { settled } = hooks;
    return {
      publish: (event) => this.guard(event.id, () => hooks.publish(event)),
      perform: (effect) => this.guard(effect.id, () => hooks.perform(effect)),
      ...(settled && {
        settled: (events, ...rest) => this.guard(events[0]?.id ?? "", () => settled(events, ...rest)),
      }),
      refuse: (command, error) => this.#refuse(command.id, error),
      contain: (id, error) => void this.contain(id, error),
      onBug: this.#ports.onBug,
    };
  }

  /** U7 of session-store.ts */
  #refuse(id: string, error: unknown): Result<never> {
    this.#ports.say(`a command for ${id} was refused, because of a bug of holdfast: ${stackOf(error)}`);
    const hint = "Nothing was changed. `holdfast logs` has the details; please report it.";
    return refused(BUG, `${BUG_WORDS}${wordsOf(error)}`, hint);
  }

  /** Runs work whose result is not awaited; `id`: the session that it is for, if it is for one (PB2). */
  outcome(work: () => Promise<unknown>, id?: string): void {
    void work().catch((error: unknown) => {
      if (id === undefined || isFault(error)) this.#ports.onBug(error);
      else this.contain(id, error);
    });
  }

  /** For work that the disk may refuse: a Fault is logged, and nothing else stops. */
  tolerating(work: () => Promise<void>): Promise<void> {
    return tolerating(this.#ports.say, work);
  }
}

/** PG3 of wire/rpc/page.ts */
export function listed<T>(rows: Source<T>, wish: PageWish, limits: PageLimits = PAGE_LIMITS): Page<T> | T[] {
  return wish.limit === undefined ? listOf(rows) : pageOf(rows, wish, limits);
}

const BUG = "bug";
const BUG_WORDS = "holdfast has a bug: ";

/**
 * For an outcome that its reporter would otherwise submit again and again: throws if it could not be decided (U7 of
 * session-store.ts), so that its session is set aside.
 */
export function decided<T>(result: Result<T>): Result<T> {
  if (!result.ok && result.error.code === BUG) throw new Error(result.error.message.slice(BUG_WORDS.length));
  return result;
}

export type HowFar = { readonly done: number; readonly total: number };
export type FoldStep = HowFar & SliceStep;
/**
 * Why a session does not fold. `passes`: the disk or the system refused for now, and it may fold a moment later.
 * `bytes`: what made it throw, if that is known.
 */
export type Trouble = { readonly reason: string; readonly passes: boolean; readonly bytes?: Bytes | undefined };

/** A session that was set aside. */
export type Aside = {
  readonly item: ReportItem;
  readonly session: string;
  readonly bytes: Bytes | undefined;
  /** Whether it was ended since. */
  isOver(): boolean;
};

function bytesOf(error: unknown): Bytes | undefined {
  return error instanceof PoisonedBytes ? error.bytes : undefined;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Logs a Fault; any other error is passed to the caller. */
export async function tolerating(say: (words: string) => void, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isFault(error)) throw error;
    say(`${error.message}. ${error.hint}`);
  }
}
