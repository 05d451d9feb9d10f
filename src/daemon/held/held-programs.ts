// The engine of held programs: has their holders started, keeps a connection to each, and reports what becomes of them.
// It does not know what they are: terminals (terminal/holders.ts), agents' processes (agent/processes.ts) and attempts
// of workflows (workflow/attempts.ts) are its adapters.
// HE1. A program is started only if nothing was claimed, and so at most once, however late its holder is and however
//      many holders there are. A start that is given up is cancelled on disk before that is reported: a late holder
//      starts nothing.
// HE2. Only what the holder left on disk is an end; a lost connection alone is not.
// HE3. A loss is reported only after the leftover processes were stopped: two instances of a program never run
//      together.
// HE4. Nothing is given up for good: after a fault that may pass, a holder that does not answer, one that cannot start
//      its program yet, or a refused report, the next round retries. So a stopped holder, a full disk or a limit on
//      processes costs only time, and the reason is known (`trouble`). A disk that fails is tried a few times; then the
//      start is cancelled, and it is reported that nothing was started because of it.
// HE5. One piece of work at a time for each program. If something happens to it in the meantime, it is examined once
//      more.
// HE6. Only a holder that listens in our own home is ours: a copied home has the specs and tokens of the original. What
//      runs there is lost for the copy, as after a crash of the machine, and is left alone.
// HE7. A holder that lives and does not claim may be slow, or hang since its start. It is replaced after a while, twice
//      as long each time: the start is cancelled on disk, so that it cannot claim any more, then it is killed, and the
//      cancel is undone.
// HE8. After a restart of the daemon, a program is running if its holder and its process are those that are on record,
//      alive and not stopped. Only a holder that has something to say, or is needed, is connected to: waking a thousand
//      of them takes longer than everything else. The adapter knows which have something to say.
import { type Fault, isFault } from "../../base/fault.ts";
import { isLeftElsewhere, leftOn } from "../../core/recovery.ts";
import { cancelStart, type HeldState, readHeld, undoCancel } from "../../home/held/held-state.ts";
import { type HomeWorld, hasClaim, readSpec, startedElsewhere } from "../../home/held/holder-files.ts";
import { isRetryable } from "../../log/wal/wal.ts";
import type { HolderStatus } from "../../wire/holder/protocol.ts";
import type { Sockets } from "../../world/socket.ts";
import { pause } from "../../world/wait.ts";
import type { HeldAdapter, HeldFound, HeldNews, HeldPlace, HeldRecord } from "./held-adapter.ts";
import { type HolderConnection, HolderConnections } from "./holder-connections.ts";
import { Naps } from "./naps.ts";

type HeldWorld = HomeWorld & { readonly sockets: Sockets };

/** A holder answers within some tens of milliseconds, and later on a busy machine. */
const START_MS = 10_000;
/** One whose process lives may still come, on a machine that swaps. Less than a stage of a recovery may be silent. */
const MAX_START_MS = 20_000;
/** Without a holder for this long, or with one that has not claimed it, it has a trouble. */
const TROUBLE_MS = 1_000;
const SLOW_MS = 3_000;
/** The pause between two looks at a start: a fraction of the time so far, so that it is noticed soon after it is up. */
const PAUSES = { part: 1 / 8, minMs: 1, maxMs: 250 };

/** A watched holder (HeldAdapter) that starts is looked for in case it dies, or its socket is not reported. */
const WATCHED_MS = 20;

/** How long a holder that runs takes to bind its socket, once it is called. */
const CALLED_MS = 50;

/** A holder that tells (HeldAdapter) is only looked at in case its word was lost. */
const TELLING_MS = 250;

/** A connection that is given up takes less: if a turn takes longer, we did not run, and neither did the holder. */
const MAX_TURN_MS = 2_500;

/** The system has no process or no memory to spare now; on the next round it may have. */
const NO_PROCESS = ["EAGAIN", "ENOMEM"] as const;

/** HE4. A disk fails like this for a moment or for good: on the next rounds it is known which. */
const DISK_FAILS = ["EIO", "ESTALE", "ETIMEDOUT", "EINTR", "EBUSY"] as const;
/** With the default heartbeat, within ten seconds. */
const MAX_FAILURES = 5;

/** Why a program is lost if its holder ran in another boot. */
const COPIED = "its program belongs to the home that this one was copied from";
export const MACHINE_DOWN = "the machine went down";

export class HeldPrograms<C extends HolderConnection> {
  readonly connections: HolderConnections<C>;
  readonly #world: HeldWorld;
  readonly #adapter: HeldAdapter<C>;
  /** HE5 */
  readonly #busy = new Map<string, Promise<unknown>>();
  readonly #nudged = new Set<string>();
  readonly #naps: Naps;
  /** How often in a row the disk has failed to take the spec of a program (HE4). */
  readonly #failures = new Map<string, number>();
  /** How long the holder of a program is waited for, and was, in turns of MAX_START_MS (HE7). */
  readonly #patience = new Map<string, { readonly turns: number; readonly used: number }>();
  /** Why a program that is to run has not been started yet (HE4). */
  readonly #troubles = new Map<string, string>();
  #closed = false;

  constructor(world: HeldWorld, adapter: HeldAdapter<C>) {
    this.#world = world;
    this.#adapter = adapter;
    this.#naps = new Naps(world.clock);
    this.connections = new HolderConnections(world, {
      spec: (name) => {
        const place = adapter.place(name);
        const spec = place && readSpec({ disk: world.disk, directory: place.directory });
        return spec && { ...spec, socket: place.socket }; // A copied home's spec names that of the original (HE6).
      },
      open: (name, peer) => adapter.connection(name, peer),
      ended: (name) => this.lookAgain(name),
      lost: (name) => this.lookAgain(name), // HE2: the program's end, the holder's death, or only the connection?
    });
  }

  start(name: string): void {
    this.alone(name, () => this.#start(name));
  }

  /** Examines it until there is something to report. */
  lookAgain(name: string): void {
    if (this.#busy.has(name)) this.#nudged.add(name);
    else this.alone(name, () => this.#settle(name));
    this.#naps.wake(name);
  }

  /** The holder that is waited for may have bound its socket. */
  stir(name: string): void {
    this.#naps.wake(name);
  }

  lookOnce(name: string): void {
    this.alone(name, async () => this.report(name, await this.look(name)));
  }

  /** HE5. Does nothing if work on the program is already in progress. */
  alone(name: string, work: () => Promise<unknown>): void {
    if (this.#busy.has(name) || this.#closed) return;
    const done = work()
      .catch((error: unknown) => {
        if (!isFault(error)) this.#adapter.onBug(error, name); // HE4
      })
      .finally(() => {
        this.#busy.delete(name);
        if (this.#nudged.delete(name)) this.lookAgain(name);
      });
    this.#busy.set(name, done);
  }

  isBusy(name: string): boolean {
    return this.#busy.has(name);
  }

  /** Resolves when no work on it is in progress. */
  async settled(name: string): Promise<void> {
    for (let work = this.#busy.get(name); work !== undefined; work = this.#busy.get(name)) await work;
  }

  /** Why it has not been started yet, although it was tried; undefined if nothing is wrong. */
  trouble(name: string): string | undefined {
    return this.#troubles.get(name);
  }

  /** The holders keep running. */
  close(): void {
    this.#closed = true;
    this.connections.close();
  }

  /** The present state of a program: asks its holder, otherwise reads what it left. Keeps the connection. */
  async look(name: string): Promise<HeldFound> {
    const place = this.#adapter.place(name);
    if (place === undefined) return UNKNOWN;
    const before = this.#onDisk(place);
    if (before.kind === "ended") return this.#adapter.ending(before.exit);
    if (before.kind === "cancelled") return CANCELLED;
    const status = (await this.connections.connect(name)) ?? (await this.#called(name, place));
    // It was started again while we asked.
    if (this.#adapter.place(name)?.generation !== place.generation) return UNKNOWN;
    if (status !== undefined && status.generation !== place.generation) return EARLIER;
    if (status?.child != null) {
      const child = { ...status.child, bootId: this.#world.processes.bootId() };
      return { kind: "running", child, holder: status.pid };
    }
    if (status?.waiting !== undefined) return this.#refused(name, status.waiting);
    const found = this.#leftBehind(name, place, status !== undefined);
    if (found.kind === "lost" && (await this.#adapter.salvage?.(name)) === true) return this.look(name);
    return found;
  }

  /** A holder may bind its socket only when somebody looks for it (M6 of holder/hold-one.ts). */
  async #called(name: string, place: HeldPlace): Promise<HolderStatus | undefined> {
    const { disk, clock, processes } = this.#world;
    const held = this.#onDisk(place);
    if (held.kind !== "claimed" || disk.stat(place.socket) !== undefined || this.#isElsewhere(place)) return undefined;
    processes.kill(held.holder, "SIGHUP"); // M3 of holder/hold.ts
    for (let took = 0; took < CALLED_MS && disk.stat(place.socket) === undefined; took += 1) await pause(clock, 1);
    return disk.stat(place.socket) === undefined ? undefined : this.connections.connect(name);
  }

  #isElsewhere({ directory }: HeldPlace): boolean {
    return startedElsewhere(this.#world, directory); // HE6
  }

  /** HE8. Undefined if it is not certain that it runs as recorded: then it is examined. */
  livesOn(name: string, { child, holder }: HeldRecord): HeldFound | undefined {
    const { disk, processes } = this.#world;
    const place = this.#adapter.place(name);
    const held = place && this.#onDisk(place);
    if (place === undefined || held?.kind !== "claimed" || held.holder.pid !== holder) return undefined;
    if (processes.isStopped(holder) || !processes.alive(child)) return undefined;
    if (disk.stat(place.socket) === undefined || this.#isElsewhere(place)) return undefined;
    this.connections.trust(name, holder);
    return { kind: "running", child, holder };
  }

  #refused(name: string, reason: string): HeldFound {
    this.#troubles.set(name, reason);
    return { kind: "refused", reason };
  }

  #onDisk({ directory, generation }: HeldPlace): HeldState {
    const { disk, processes } = this.#world;
    return readHeld({ disk, processes, directory }, generation);
  }

  /** It may have ended while its holder was asked. */
  #leftBehind(name: string, place: HeldPlace, answered: boolean): HeldFound {
    const { processes } = this.#world;
    const held = this.#onDisk(place);
    if (held.kind === "ended") return this.#adapter.ending(held.exit);
    if (held.kind === "cancelled") return CANCELLED;
    if (held.kind === "lost")
      return { kind: "lost", reason: whyLost(held, processes.bootId()), generation: place.generation };
    if (held.kind === "claimed" && this.#isElsewhere(place))
      return { kind: "lost", reason: COPIED, generation: place.generation };
    if (held.kind === "claimed")
      processes.kill(held.holder, "SIGHUP"); // Makes it check its socket (M3 of holder/hold.ts).
    else if (!answered) return this.#adapter.unclaimed?.(name) ?? { kind: "unstarted" };
    return SILENT;
  }

  /**
   * Examines a program that may have been started before, and reports it; one that was not started never will be.
   * `known`: it ran, and has nothing to say (HE8).
   */
  async adopt(name: string, reason: string, known?: HeldRecord): Promise<HeldFound> {
    const found = (known && this.livesOn(name, known)) ?? (await this.look(name));
    if (found.kind === "unstarted") await this.#prevent(name, { reason });
    else await this.report(name, found);
    return found;
  }

  /** Resolves when it is recorded. If it is not news, it is not reported. */
  async report(name: string, found: HeldFound): Promise<void> {
    if (!isNews(found)) return;
    this.#troubles.delete(name);
    this.#patience.delete(name);
    if (this.#adapter.place(name) === undefined) return;
    if (found.kind !== "running") this.connections.drop(name);
    if (found.kind === "lost") await this.#adapter.stopRest(name); // HE3
    await this.#adapter.report(name, found);
  }

  async #start(name: string): Promise<void> {
    await this.#adapter.prepare?.(name);
    const before = await this.look(name);
    if (before.kind !== "unstarted") return this.report(name, before);
    if (!this.#adapter.isWanted(name)) return;
    const launched = this.#adapter.isStarting(name) ? LAUNCHED : await this.#launch(name);
    if (launched.kind === "refused") return this.#prevent(name, launched.why);
    if (launched.kind === "launched" && !(await this.#settle(name, true))) await this.#isLate(name);
  }

  /** HE7 */
  async #isLate(name: string): Promise<void> {
    this.#troubles.set(name, NO_ANSWER);
    const place = this.#adapter.place(name);
    if (place === undefined || !this.#adapter.isStarting(name)) return;
    const { turns, used } = this.#patience.get(name) ?? { turns: 1, used: 0 };
    this.#patience.set(name, { turns, used: used + 1 });
    const { directory, generation } = place;
    if (used + 1 < turns || !(await cancelStart(this.#world, directory, generation))) return;
    this.#patience.set(name, { turns: 2 * turns, used: 0 });
    this.#adapter.dismiss(name);
    undoCancel({ disk: this.#world.disk, directory }, generation);
  }

  async #launch(name: string): Promise<Launched> {
    try {
      const launched = await this.#adapter.launch(name);
      this.#failures.delete(name);
      if (launched.ok) return LAUNCHED;
      return { kind: "refused", why: { reason: launched.error.message, code: launched.error.code } };
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#troubles.set(name, `${error.message}. ${error.hint}`);
      if (isRetryable(error) || isFault(error, ...NO_PROCESS)) return { kind: "later" }; // HE4
      return isFault(error, ...DISK_FAILS) ? this.#diskFailed(name, error) : refusedBy(error);
    }
  }

  /** HE4 */
  #diskFailed(name: string, fault: Fault): Launched {
    const failures = (this.#failures.get(name) ?? 0) + 1;
    this.#failures.set(name, failures);
    return failures < MAX_FAILURES ? { kind: "later" } : refusedBy(fault);
  }

  /** HE1. If it was claimed after all, the next look finds it. */
  async #prevent(name: string, why: Prevented): Promise<void> {
    const place = this.#adapter.place(name);
    if (place === undefined) return;
    if (!(await cancelStart(this.#world, place.directory, place.generation))) return;
    this.#failures.delete(name);
    await this.report(name, { kind: "prevented", ...why });
  }

  /** Returns false if it takes too long. `launched`: a holder of it is starting. */
  async #settle(name: string, launched = false): Promise<boolean> {
    const { clock } = this.#world;
    let before = clock.elapsed();
    for (let took = 0; ; ) {
      const place = this.#closed ? undefined : this.#adapter.place(name);
      if (place === undefined) return true;
      const isAwaited = launched && !this.#isThere(place);
      const found = isAwaited ? UNSTARTED : await this.look(name);
      if (await this.#isConcluded(name, found)) return true;
      if (found.kind === "unstarted") this.#again(name, took);
      if (took >= START_MS && this.#isTooLong(name, took, launched)) return false;
      await this.#pause(name, took, isAwaited);
      const now = clock.elapsed();
      took += Math.min(now - before, MAX_TURN_MS);
      before = now;
    }
  }

  #isTooLong(name: string, took: number, launched: boolean): boolean {
    return !launched || took >= MAX_START_MS || !this.#adapter.isStarting(name);
  }

  /** Until something happens to it, or for a while. */
  async #pause(name: string, took: number, isAwaited: boolean): Promise<void> {
    if (this.#nudged.delete(name)) return;
    const minMs = isAwaited && this.#adapter.isWatched?.() === true ? WATCHED_MS : PAUSES.minMs;
    const ms = Math.min(Math.max(minMs, took * PAUSES.part), PAUSES.maxMs);
    await this.#naps.sleep(name, this.#adapter.tells?.(name) === true ? TELLING_MS : ms);
  }

  /** HE4. Its holders may end before they claim, or hang. */
  #again(name: string, took: number): void {
    this.#adapter.relaunch?.(name);
    if (took < TROUBLE_MS) return;
    const isStarting = this.#adapter.isStarting(name);
    if (took >= (isStarting ? SLOW_MS : TROUBLE_MS)) this.#troubles.set(name, isStarting ? NO_ANSWER : NO_HOLDER);
  }

  /** A holder binds its socket, claims, and answers once the program runs. It may be over before we see the socket. */
  #isThere({ directory, socket }: HeldPlace): boolean {
    const { disk } = this.#world;
    return disk.stat(socket) !== undefined || hasClaim({ disk, directory });
  }

  /** Reports news. Returns false if it is to be examined again soon. */
  async #isConcluded(name: string, found: HeldFound): Promise<boolean> {
    if (isNews(found)) await this.#reportOf(name, found);
    return isNews(found) || found.kind === "refused"; // HE4
  }

  async #reportOf(name: string, news: HeldNews): Promise<void> {
    const recorded = this.report(name, news);
    if (news.kind === "running" && this.#adapter.recordsStartLazily === true)
      void recorded.catch((error: unknown) => this.#adapter.onBug(error, name));
    else await recorded;
  }
}

type Prevented = Omit<Extract<HeldNews, { readonly kind: "prevented" }>, "kind">;
type Launched = { readonly kind: "launched" | "later" } | { readonly kind: "refused"; readonly why: Prevented };

/** Why a program is lost whose holder is gone. */
function whyLost({ bootId, host }: Extract<HeldState, { readonly kind: "lost" }>, ours: string): string {
  if (host !== undefined) return leftOn(host);
  return bootId !== undefined && bootId !== ours ? MACHINE_DOWN : "its process was lost; exit status unknown";
}

/** Whether something that is lost for this reason may have run, although nobody saw it run. */
export function mayHaveRun(reason: string): boolean {
  return reason === MACHINE_DOWN || isLeftElsewhere(reason);
}

function refusedBy({ message, hint }: Fault): Launched {
  return { kind: "refused", why: { reason: `it could not be started: ${message}. ${hint}`, passing: true } };
}

function isNews(found: HeldFound): found is HeldNews {
  return found.kind !== "unstarted" && found.kind !== "unreachable" && found.kind !== "refused";
}

const LAUNCHED: Launched = { kind: "launched" };
const NO_HOLDER = "Its holder ended before it started it. It is tried again.";
const NO_ANSWER = "Its holder does not answer. It is waited for, or replaced.";
const UNSTARTED: HeldFound = { kind: "unstarted" };
const CANCELLED: HeldFound = { kind: "prevented", reason: "It was stopped before it began.", passing: true };
const UNKNOWN: HeldFound = { kind: "unreachable", reason: "it is over, or unknown" };
const EARLIER: HeldFound = { kind: "unreachable", reason: "a holder of an earlier generation still lives" };
const SILENT: HeldFound = { kind: "unreachable", reason: "its holder lives but does not answer" };
