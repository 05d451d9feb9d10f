// The daemon's hands on terminals: starts their holders, hears of their ends, and reports what becomes of them as commands.
// N1. What a holder says, or has left on disk, is reported once the daemon knows it for certain; a lost line alone is no end.
// N2. A terminal is started only where nothing was claimed; a start that comes to nothing is cancelled before it is reported.
// N3. Nothing is given up for good: what runs unheard, starts without an outcome, or waits for a signal is looked at again on
//     every round. So a holder that was stopped, a disk that was full and a report that was refused cost time, and nothing else.
// N4. A holder that is well and has nothing to say is left at rest, without a line (holder-connections.ts, L3). Its end is told by the system
//     (holder-watch.ts); a holder that was killed is missed on the next round. Where the system tells nothing, lines are kept.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { plainRestoreBanner } from "../../core/terminal/screen.ts";
import type { Child, Effect, Ending, Recipe, Terminal, TerminalCommand } from "../../core/terminal/terminal.ts";
import { setAsideBefore } from "../../home/held/generations.ts";
import { cancelStart, type HeldState, readHeld } from "../../home/held/held-state.ts";
import {
  hasExit,
  holderSocket,
  readSpec,
  terminalDirectory,
  terminalFiles,
  writeTerminalSpec,
} from "../../home/held/holder-files.ts";
import { removeIfThere } from "../../log/file/file.ts";
import { isRetryable } from "../../log/wal/wal.ts";
import type { HolderExit, HolderStatus } from "../../wire/holder/protocol.ts";
import { holderStart } from "../../wire/holder/start.ts";
import type { Children } from "../../world/children.ts";
import type { Random } from "../../world/random.ts";
import type { Self } from "../../world/self.ts";
import type { Watch } from "../../world/watch.ts";
import { HolderConnections, type LinesWorld } from "../held/holder-connections.ts";
import { HolderPrograms } from "../held/holder-program.ts";
import { HolderWatch } from "../held/holder-watch.ts";

/** Why a terminal is lost whose holder was of another boot. */
export const MACHINE_DOWN = "the machine went down";

export type DaemonWorld = LinesWorld & {
  readonly children: Children;
  readonly random: Random;
  readonly self: Self;
  readonly watch: Watch;
};

export type HandsOptions = { readonly tape: { readonly segmentBytes: number; readonly maxBytes: number } };

export type HandsPorts = {
  terminal(id: string): Terminal | undefined;
  terminals(): Iterable<Terminal>;
  submit(command: TerminalCommand): void;
  /** Its holder is gone and left no exit. */
  lost(id: string, reason: string): void;
  /** What is put on the tape of a restored terminal before its program starts: its old screen, and the message. */
  farewell(terminal: Terminal, message: string): Promise<string>;
  /** Something broke that is no Fault. */
  onBug(error: unknown): void;
};

/** What was found when a terminal was looked at. */
export type TerminalFound =
  | { readonly kind: "running"; readonly child: Child; readonly holder: number }
  | ({ readonly kind: "ended"; readonly bootId?: string } & Ending)
  | { readonly kind: "unstarted" }
  | { readonly kind: "uncertain"; readonly reason: string }
  | { readonly kind: "unreachable"; readonly reason: string };

/** A holder answers within some tens of milliseconds; a machine under load may take its time. */
const START_MS = 10_000;
/** Between two looks at one that starts: a part of what it took so far, so that nobody waits much longer than it took. */
const PAUSES = { part: 1 / 4, leastMs: 4, mostMs: 250 };
/** A screen that takes longer is left out: the terminal is waited for. */
const FAREWELL_MS = 3_000;
/** What the program of a rolled back terminal gets before it is forced. */
const GRACE_MS = 2_000;
/** Rounds, ten seconds: who lists terminals now and then, and the checkpoint's look at those that print, find the last line (N4). */
const REST_AFTER = 5;
/** Rounds. Whoever attached to a restored terminal at rest is noticed so much later. */
const NOTICE_EVERY = 15;

export class TerminalHolders {
  readonly #world: DaemonWorld;
  readonly #options: HandsOptions;
  readonly #ports: HandsPorts;
  readonly #lines: HolderConnections;
  readonly #watch: HolderWatch;
  /** Somebody is at it already. */
  readonly #busy = new Map<string, Promise<unknown>>();
  /** Those to be looked at once more when that is done. */
  readonly #nudged = new Set<string>();
  /** What new terminals' programs get and no disk does, until they are started. */
  readonly #secrets = new Map<string, Readonly<Record<string, string>>>();
  #rounds = 0;
  #closed = false;
  /** What any holder of ours is started with. */
  readonly programs: HolderPrograms;

  constructor(world: DaemonWorld, options: HandsOptions, ports: HandsPorts) {
    this.#world = world;
    this.programs = new HolderPrograms(world);
    this.#options = options;
    this.#ports = ports;
    this.#lines = new HolderConnections(world, {
      ended: (id, exit) => this.#report(id, { kind: "ended", ...endingOf(exit) }),
      lost: (id) => this.lookAgain(id), // N1: the end, the holder's death, or only the line?
    });
    this.#watch = new HolderWatch(world.watch, this.#sockets, (socket) => this.#toldOf(socket)); // N4
  }

  /** Variables for a terminal that is about to be created. */
  entrust(id: string, secrets: Readonly<Record<string, string>>): void {
    if (Object.keys(secrets).length > 0) this.#secrets.set(id, secrets);
    else this.#secrets.delete(id);
  }

  perform(effect: Effect): void {
    const terminal = this.#ports.terminal(effect.id);
    if (terminal === undefined) return;
    if (effect.kind === "start") this.#alone(effect.id, () => this.#start(terminal));
    if (effect.kind === "signal") this.#signal(effect.id);
    if (effect.kind === "end") this.#end(effect.id);
    if (effect.kind === "discard") this.#discard(effect.id);
  }

  /** N3, N4. Called on every heartbeat. */
  round(): void {
    if (this.#closed) return;
    this.#rounds += 1;
    const there = new Set(this.#world.disk.list(this.#sockets));
    const untold = [...this.#ports.terminals()].filter((terminal) => !this.#round(terminal, there));
    if (untold.length > 0) this.#watch.renew();
    if (this.#watch.open()) this.#lines.rest(REST_AFTER);
  }

  /** Resolves when nobody is at work on this terminal. */
  async settled(id: string): Promise<void> {
    for (let work = this.#busy.get(id); work !== undefined; work = this.#busy.get(id)) await work;
  }

  /** What the holder says of itself; undefined where it does not answer. */
  status(id: string): Promise<HolderStatus | undefined> {
    return this.#lines.status(id);
  }

  /** Lets go of every holder; they live on. */
  close(): void {
    this.#closed = true;
    this.#watch.close();
    this.#lines.close();
  }

  /** How a terminal is now: asks its holder, else reads what it left (N1). Keeps the line where there is one. */
  async look({ id, generation }: Terminal): Promise<TerminalFound> {
    const before = endingIn(this.#onDisk(id, generation));
    if (before !== undefined) return before;
    const status = await this.#lines.connect(id);
    if (status !== undefined && status.generation !== generation) return EARLIER;
    if (status?.child != null) {
      const child = { ...status.child, bootId: this.#world.processes.bootId() };
      return { kind: "running", child, holder: status.pid };
    }
    const again = this.#onDisk(id, generation); // It may have ended while we knocked.
    if (again.kind === "unclaimed") return status === undefined ? { kind: "unstarted" } : SILENT;
    if (again.kind === "lost") return this.#gone(again.bootId);
    if (again.kind !== "claimed") return endingIn(again) ?? SILENT;
    this.#world.processes.kill(again.holder, "SIGHUP"); // Makes it look after its socket (M3 of holder/hold.ts).
    return SILENT;
  }

  #files(id: string) {
    return terminalFiles(this.#world.disk, this.#world.home, id);
  }

  #onDisk(id: string, generation: number): HeldState {
    return readHeld({ ...this.#world, ...this.#files(id) }, generation);
  }

  #gone(bootId: string | undefined): TerminalFound {
    const down = bootId !== undefined && bootId !== this.#world.processes.bootId();
    return { kind: "uncertain", reason: down ? MACHINE_DOWN : "its holder is gone and left no exit" };
  }

  /** Says what was found as a command; nothing for what must be looked at again. */
  #report(id: string, found: TerminalFound): void {
    if (found.kind === "running") this.#ports.submit({ kind: "started", id, child: found.child, holder: found.holder });
    if (found.kind === "ended") this.#ports.submit({ ...found, id });
    if (found.kind === "uncertain") this.#ports.lost(id, found.reason);
  }

  /** False where a socket has gone, and nobody said so. */
  #round(terminal: Terminal, there: ReadonlySet<string>): boolean {
    const { id, state, removed, signal, rollingBack } = terminal;
    if (removed) return true;
    if (state.kind === "starting") this.#alone(id, () => this.#start(terminal));
    if (state.kind !== "running") return true;
    const findable = there.has(socketName(this.#world.home, id));
    const known = this.#lines.has(id) || this.#lines.rests(id);
    if (!findable || !known) this.#alone(id, async () => this.#report(id, await this.look(terminal)));
    else if (rollingBack) this.#end(id);
    else if (signal !== undefined) this.#signal(id);
    else if (this.#lines.has(id) || this.#rounds % NOTICE_EVERY === 0) this.#work(this.#notice(terminal));
    return findable || !known;
  }

  get #sockets(): string {
    return joinPath(this.#world.home, "run");
  }

  /** N4: a socket came, went or was touched. */
  #toldOf(socket: string): void {
    const { disk, home } = this.#world;
    for (const { id, state } of this.#closed ? [] : this.#ports.terminals()) {
      if (state.kind !== "running" || socketName(home, id) !== socket) continue;
      if (disk.stat(holderSocket(home, id)) === undefined || hasExit(terminalFiles(disk, home, id))) this.lookAgain(id);
    }
  }

  /** Something happened to it: whoever is at it may have looked just before. */
  lookAgain(id: string): void {
    if (this.#busy.has(id)) this.#nudged.add(id);
    else this.#alone(id, () => this.#settle(id));
  }

  /** Whoever attaches to a restored terminal, or types into it, takes it as it is. */
  async #notice({ id, restored }: Terminal): Promise<void> {
    if (restored === undefined || restored.accepted) return;
    const status = await this.#lines.glance(id);
    const typists = Object.keys(status?.writers ?? {}).filter((writer) => writer !== "daemon");
    if (status !== undefined && (status.clients > 1 || typists.length > 0)) {
      this.#ports.submit({ kind: "accept", id, by: "somebody attached to it" });
    }
  }

  /** One at a time for each terminal; whoever comes meanwhile can leave it to the one who is there. */
  #alone(id: string, work: () => Promise<unknown>): void {
    if (this.#busy.has(id)) return;
    const done = work()
      .catch((error: unknown) => {
        if (!isFault(error)) this.#ports.onBug(error); // The next round tries again.
      })
      .finally(() => {
        this.#busy.delete(id);
        if (this.#nudged.delete(id)) this.lookAgain(id);
      });
    this.#busy.set(id, done);
  }

  /** What nobody waits for. */
  #work(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#ports.onBug(error));
  }

  async #start(terminal: Terminal): Promise<void> {
    await setAsideBefore(this.#files(terminal.id), terminal.generation);
    const before = await this.look(terminal);
    if (before.kind !== "unstarted") return this.#report(terminal.id, before);
    try {
      await this.#launch(terminal);
    } catch (error) {
      if (!isFault(error)) throw error;
      if (isRetryable(error)) return; // N3: there may be room again by the next round.
      return this.#giveUp(terminal);
    }
    if (!(await this.#settle(terminal.id))) await this.#giveUp(terminal);
  }

  async #launch(terminal: Terminal): Promise<void> {
    const { id, generation, restored } = terminal;
    const { disk, home, random, children } = this.#world;
    const token = readSpec(terminalFiles(disk, home, id))?.token ?? random.bytes(32).toHex();
    const facts = { id, generation, recipe: recipeNow(terminal), token, tape: this.#options.tape };
    const preface = restored && (await this.#farewell(terminal, restored.message));
    const again =
      restored === undefined || preface === undefined
        ? {}
        : { preface, typed: restored.typed, startAt: restored.offset };
    await writeTerminalSpec(this.#world, { ...facts, ...again });
    const { runtime, entry } = this.programs.words("holder");
    children.detached(holderStart(runtime, entry, terminalDirectory(home, id), this.#given(id, generation)));
    this.#secrets.delete(id);
  }

  /** Secrets are for the first generation alone: by the next one nobody knows them any more. */
  #given(id: string, generation: number) {
    const secrets = generation === 1 ? (this.#secrets.get(id) ?? {}) : {};
    return { ours: this.#world.self.environment(), secrets };
  }

  /** A screen that cannot be had, or not in time, keeps no terminal from coming back. */
  async #farewell(terminal: Terminal, message: string): Promise<string> {
    const plain = plainRestoreBanner(message);
    const late = Promise.withResolvers<string>();
    const cancel = this.#world.clock.after(FAREWELL_MS, () => late.resolve(plain));
    try {
      return await Promise.race([this.#ports.farewell(terminal, message).catch(() => plain), late.promise]);
    } finally {
      cancel();
    }
  }

  /** Asks the program of a rolled back terminal to end, then forces it; N3 does it again. */
  #end(id: string): void {
    this.#work(this.#tell(id, ["SIGHUP", "SIGTERM", "SIGCONT"]));
    this.#world.clock.after(GRACE_MS, () => {
      if (this.#ports.terminal(id)?.rollingBack === true) this.#work(this.#tell(id, ["SIGKILL"]));
    });
  }

  async #tell(id: string, signals: readonly string[]): Promise<void> {
    if (await this.#lines.reach(id)) for (const name of signals) this.#lines.signal(id, name);
  }

  /** Looks until there is something to report; false where it takes too long. */
  async #settle(id: string): Promise<boolean> {
    const { clock } = this.#world;
    const began = clock.elapsed();
    for (let took = 0; took < START_MS; took = clock.elapsed() - began) {
      const terminal = this.#ports.terminal(id);
      if (terminal === undefined || terminal.state.kind === "ended") return true;
      const found = await this.look(terminal);
      if (found.kind !== "unreachable" && found.kind !== "unstarted") {
        this.#report(id, found);
        return true;
      }
      const pause = Math.min(Math.max(PAUSES.leastMs, took * PAUSES.part), PAUSES.mostMs);
      await new Promise<void>((resolve) => clock.after(pause, resolve));
    }
    return false;
  }

  /** N2. Where it was claimed after all, the next round will find it. */
  async #giveUp({ id, generation }: Terminal): Promise<void> {
    if (await cancelStart(this.#world, this.#files(id).directory, generation)) this.#report(id, NOT_STARTED);
  }

  #signal(id: string): void {
    this.#work(this.#signalOnce(id));
  }

  /** The one that waits when there is a line, once; where there is none, when it is back, or N3. */
  async #signalOnce(id: string): Promise<void> {
    const reached = await this.#lines.reach(id);
    const signal = this.#ports.terminal(id)?.signal;
    if (!reached || signal === undefined || !this.#lines.signal(id, signal.name)) return;
    this.#ports.submit({ kind: "signalled", id });
  }

  #discard(id: string): void {
    this.#lines.drop(id);
    removeIfThere(this.#world.disk, holderSocket(this.#world.home, id));
  }
}

function socketName(home: string, id: string): string {
  const path = holderSocket(home, id);
  return path.slice(path.lastIndexOf("/") + 1);
}

/** What this generation is started with. */
function recipeNow({ recipe, restored }: Terminal): Recipe {
  if (restored === undefined) return recipe;
  const { argv, cwd, evidence } = restored;
  return { ...recipe, argv, cwd, size: evidence?.size ?? recipe.size };
}

function endingOf({ code, signal, stopped, bootId }: HolderExit): Ending {
  return { code, signal, ...(stopped === true && { stoppedIn: bootId }) };
}

function endingIn(held: HeldState): TerminalFound | undefined {
  if (held.kind === "cancelled") return NOT_STARTED;
  return held.kind === "ended" ? { kind: "ended", bootId: held.exit.bootId, ...endingOf(held.exit) } : undefined;
}

const EARLIER: TerminalFound = { kind: "unreachable", reason: "a holder of an earlier generation still lives" };
const SILENT: TerminalFound = { kind: "unreachable", reason: "its holder lives but does not answer" };
/** The code that a shell returns for a command that it could not start. */
const COULD_NOT_START = 127;
const NOT_STARTED: TerminalFound = { kind: "ended", code: COULD_NOT_START, signal: null };
