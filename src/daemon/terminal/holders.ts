// The adapter of terminals to the engine of held programs (held/held-programs.ts): how a terminal is started and what
// its end means. It adds what only terminals need, since many of them are long-lived and silent: idle connections are
// closed, and holders are watched.
// N1. A healthy holder with nothing to report is left without a connection (L3 of held/holder-connections.ts). The
//     operating system reports its end (held/holder-watch.ts); a killed holder is noticed on the next round. If the
//     system cannot report ends, connections are kept.
// N2. Terminals that run without a connection, start without an outcome, or wait for a signal are examined on every
//     round (HE4).
// N3. A terminal that could not be started has not ended: nothing of it has run. It is tried again for as long as it
//     takes; only if its spec cannot be written does it wait for a person, who can restore it. A start that an earlier
//     daemon cancelled without recording it is made after all.
// N4. A signal that would end its program also ends a terminal that could not be started yet.
// N5. A signal counts as sent when its holder has answered what was asked after it. A holder does nothing for a daemon
//     that is gone before it could look who that was: then the next daemon sends it.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { ok, type Result } from "../../base/result.ts";
import { plainRestoreBanner } from "../../core/terminal/screen.ts";
import { type Effect, recipeNow, type Terminal, type TerminalCommand } from "../../core/terminal/terminal.ts";
import { setAsideBefore } from "../../home/held/generations.ts";
import { undoCancel } from "../../home/held/held-state.ts";
import {
  hasExit,
  holderSocket,
  ownToken,
  terminalDirectory,
  terminalFiles,
  writeTerminalSpec,
} from "../../home/held/holder-files.ts";
import { RUN } from "../../home/layout.ts";
import { removeIfThere } from "../../log/file/file.ts";
import type { Variables } from "../../wire/holder/secrets.ts";
import { within } from "../../world/wait.ts";
import type { HeldAdapter, HeldFound, HeldNews } from "../held/held-adapter.ts";
import { HeldPrograms } from "../held/held-programs.ts";
import { type HolderConnection, type HolderConnections, plainConnection } from "../held/holder-connections.ts";
import { HolderPrograms } from "../held/holder-program.ts";
import { HolderWatch } from "../held/holder-watch.ts";
import type { DaemonWorld } from "../ports.ts";
import { type Reply, TerminalAnswers } from "./answers.ts";
import { ending, socketName } from "./held-terminal.ts";
import { HolderStarts } from "./holder-starts.ts";

export type HoldersOptions = { readonly tape: { readonly segmentBytes: number; readonly maxBytes: number } };

export type HoldersPorts = {
  terminal(id: string): Terminal | undefined;
  terminals(): Iterable<Terminal>;
  submit(command: TerminalCommand): void;
  /** Its holder is gone and left no exit. Stops its leftover processes before anything else (HE3). */
  lost(id: string, loss: Loss): void;
  /** What is written to the tape of a restored terminal before its program starts: its old screen and the message. */
  farewell(terminal: Terminal, message: string): Promise<string>;
  reply: Reply;
  /** An error that is not a Fault, in what is done for this terminal. */
  onBug(error: unknown, id: string): void;
  guard(id: string, work: () => void): void;
};

/** A start that was cancelled is made after all (N3). */
export type TerminalFound = Exclude<HeldFound, { readonly kind: "prevented" }>;

/** A screen that takes longer is left out, because a client is waiting for the terminal. */
const BANNER_MS = 3_000;
/** How long the program of a rolled-back terminal has to exit before it is killed. */
const GRACE_MS = 2_000;
/**
 * In rounds, ten seconds: occasional lists, and the checkpoint's queries of busy terminals, share a connection (N1).
 */
const REST_AFTER = 5;
/** In rounds: the delay until a client attached to a restored terminal without a connection is noticed. */
const NOTICE_EVERY = 15;
/** Longer than a question of a program is open (QO2 of holder/questions.ts): its holder may be asking now. */
const ASKED_MS = 3_000;
/** N4 */
const ENDING_SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGKILL"];

/** Of one generation: by the time it is reported, the next one may have been decided. */
export type Loss = { readonly reason: string; readonly generation: number };

export class TerminalHolders {
  readonly #world: DaemonWorld;
  readonly #options: HoldersOptions;
  readonly #ports: HoldersPorts;
  readonly #held: HeldPrograms<HolderConnection>;
  readonly #watch: HolderWatch;
  readonly #answers: TerminalAnswers;
  readonly #starts: HolderStarts;
  /** N5 */
  readonly #signalledOn = new Map<string, HolderConnection>();
  #rounds = 0;
  #closed = false;
  /** The program that all our holders are started from. */
  readonly programs: HolderPrograms;

  constructor(world: DaemonWorld, options: HoldersOptions, ports: HoldersPorts) {
    this.#world = world;
    this.programs = new HolderPrograms(world);
    this.#options = options;
    this.#ports = ports;
    this.#starts = new HolderStarts(world, () => this.programs.command("holder"));
    this.#held = new HeldPrograms(world, this.#adapter());
    this.#answers = new TerminalAnswers(this.#held.connections, ports.reply);
    this.#watch = new HolderWatch(world.watch, this.#sockets, (socket) => this.#socketChanged(socket)); // N1
  }

  #adapter(): HeldAdapter<HolderConnection> {
    return {
      place: (id) => this.#place(id),
      connection: (_, peer) => plainConnection(peer),
      isWanted: (id) => this.#ports.terminal(id)?.state.kind === "starting",
      prepare: (id) => this.#prepare(id),
      launch: (id) => this.#launch(id),
      relaunch: (id) => this.#relaunch(id),
      isStarting: (id) => this.#starts.isAlive(id),
      isWatched: () => this.#watch.open(),
      dismiss: (id) => this.#starts.kill(id),
      ending,
      stopRest: async () => undefined, // `lost` stops the processes of all lost terminals together.
      report: async (id, news) => this.#report(id, news),
      onBug: (error, id) => this.#ports.onBug(error, id),
    };
  }

  /** Keeps variables for a terminal that is about to be created. */
  setSecrets(id: string, secrets: Variables): void {
    this.#starts.setSecrets(id, secrets);
  }

  perform({ kind, id }: Effect): void {
    if (this.#ports.terminal(id) === undefined) return;
    if (kind === "start") this.#start(id);
    if (kind === "signal") this.#work(id, this.#signal(id));
    if (kind === "end") this.#end(id);
    if (kind === "discard") this.#discard(id);
  }

  /** Why it is not started yet, although it was tried. */
  trouble(id: string): string | undefined {
    return this.#held.trouble(id);
  }

  #start(id: string): void {
    const signal = this.#ports.terminal(id)?.signal?.name;
    if (signal === undefined || !ENDING_SIGNALS.includes(signal)) this.#held.start(id);
    else this.#held.alone(id, () => this.#withdraw(id, signal));
  }

  /** N4. If it runs by now, the signal is sent on the next round. */
  async #withdraw(id: string, signal: string): Promise<void> {
    const found = await this.#held.adopt(id, "It was stopped before it began.");
    if (found.kind === "refused") this.#held.connections.signal(id, signal);
  }

  /** Questions of programs do not wait for the first heartbeat. */
  goLive(): void {
    this.#watch.open();
  }

  /** N1, N2. Called on every heartbeat. */
  round(): void {
    if (this.#closed) return;
    this.#rounds += 1;
    const there = new Set(this.#world.disk.list(this.#sockets));
    let untold = false;
    for (const terminal of [...this.#ports.terminals()])
      this.#ports.guard(terminal.id, () => {
        if (!this.#round(terminal, there)) untold = true;
      });
    if (untold) this.#watch.renew();
    if (this.#watch.open()) this.#held.connections.rest(REST_AFTER);
  }

  /** Resolves when no work on this terminal is in progress. */
  settled(id: string): Promise<void> {
    return this.#held.settled(id);
  }

  get connections(): Pick<HolderConnections<HolderConnection>, "status" | "seen"> {
    return this.#held.connections;
  }

  /** Whether a holder that touches its socket is looked at (N1). */
  get isWatching(): boolean {
    return this.#watch.open();
  }

  /** Closes the connections; the holders keep running. */
  close(): void {
    this.#closed = true;
    this.#watch.close();
    this.#starts.close();
    this.#held.close();
  }

  /** HE8 of held/held-programs.ts. Its end and its questions are reported by the watch (N1). */
  livesOn({ id, state, signal, rollingBack }: Terminal): TerminalFound | undefined {
    const { disk, clock, processes, home } = this.#world;
    if (state.kind !== "running" || state.bootId !== processes.bootId()) return undefined;
    if (signal !== undefined || rollingBack || !this.#watch.open()) return undefined;
    const { pid, startTime, bootId, holder } = state;
    const touched = disk.stat(holderSocket(home, id))?.modifiedMs ?? 0;
    if (Math.abs(clock.now() - touched) < ASKED_MS) return undefined;
    const found = this.#held.livesOn(id, { child: { pid, startTime, bootId }, holder });
    return found?.kind === "prevented" ? undefined : found;
  }

  /** Finds out the present state of a terminal. */
  async look({ id }: Terminal): Promise<TerminalFound> {
    const found = await this.#held.look(id);
    return found.kind === "prevented" ? { kind: "unstarted" } : found; // N3
  }

  /** Called when something may have happened to it. */
  lookAgain(id: string): void {
    this.#held.lookAgain(id);
  }

  #place(id: string) {
    const terminal = this.#ports.terminal(id);
    if (terminal === undefined || terminal.state.kind === "ended") return undefined;
    const { home } = this.#world;
    return { directory: terminalDirectory(home, id), generation: terminal.generation, socket: holderSocket(home, id) };
  }

  #files(id: string) {
    return terminalFiles(this.#world.disk, this.#world.home, id);
  }

  #report(id: string, news: HeldNews): void {
    this.#starts.over(id, news.kind === "running");
    if (news.kind === "running") {
      this.#ports.submit({ kind: "started", id, child: news.child, holder: news.holder });
      // It may have asked before we were connected.
      if (this.#held.connections.get(id)?.client.status?.asking) this.#work(id, this.#answers.look(id));
    }
    if (news.kind === "ended") this.#ports.submit({ ...news, id });
    if (news.kind === "prevented") this.#ports.submit(this.#notStarted(id, news.reason));
    if (news.kind === "lost") {
      const { reason, generation = this.#ports.terminal(id)?.generation ?? 0 } = news;
      this.#ports.lost(id, { reason, generation });
    }
  }

  async #prepare(id: string): Promise<void> {
    const generation = this.#ports.terminal(id)?.generation ?? 0;
    await setAsideBefore(this.#files(id), generation);
    undoCancel(this.#files(id), generation); // N3
  }

  /** N3, N4 */
  #notStarted(id: string, reason: string): TerminalCommand {
    const signal = this.#ports.terminal(id)?.signal?.name;
    if (signal === undefined) return { kind: "lost", id, reason };
    return { kind: "ended", id, code: null, signal };
  }

  /** Returns false if a socket has disappeared without a report from the watch. */
  #round({ id, state, removed, signal, rollingBack, restored }: Terminal, there: ReadonlySet<string>): boolean {
    if (removed) return true;
    if (state.kind === "starting") this.#start(id);
    if (state.kind !== "running") return true;
    const { connections } = this.#held;
    const findable = there.has(socketName(this.#world.home, id));
    const known = connections.has(id) || connections.rests(id);
    if (!findable || !known) this.#held.lookOnce(id);
    else if (rollingBack) this.#end(id);
    else if (signal !== undefined) this.#work(id, this.#signal(id, true));
    else if (restored?.accepted === false && (connections.has(id) || this.#rounds % NOTICE_EVERY === 0))
      this.#work(id, this.#notice(id));
    return findable || !known;
  }

  get #sockets(): string {
    return joinPath(this.#world.home, RUN);
  }

  /** N1: called when a socket was created, removed or touched. */
  #socketChanged(socket: string): void {
    const { home } = this.#world;
    for (const { id, state } of this.#closed ? [] : this.#ports.terminals()) {
      if (socketName(home, id) !== socket || (state.kind !== "running" && state.kind !== "starting")) continue;
      if (state.kind === "starting") this.#held.stir(id);
      if (state.kind === "running" && this.#mayBeOver(id)) this.lookAgain(id);
      else this.#work(id, this.#answers.look(id));
    }
  }

  #mayBeOver(id: string): boolean {
    const { disk, home } = this.#world;
    try {
      return disk.stat(holderSocket(home, id)) === undefined || hasExit(this.#files(id));
    } catch (error) {
      if (!isFault(error)) throw error;
      return true;
    }
  }

  /** A restored terminal counts as accepted once a client attaches to it or types into it. */
  async #notice(id: string): Promise<void> {
    const status = await this.#held.connections.glance(id);
    const typists = Object.keys(status?.writers ?? {}).filter((writer) => writer !== "daemon");
    if (status !== undefined && (status.clients > 1 || typists.length > 0)) {
      this.#ports.submit({ kind: "accept", id, by: "somebody attached to it" });
    }
  }

  /** Runs without being awaited. */
  #work(id: string, work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#ports.onBug(error, id));
  }

  async #launch(id: string): Promise<Result<void>> {
    const terminal = this.#ports.terminal(id);
    if (terminal === undefined) return ok(undefined);
    const { generation, restored } = terminal;
    const { random } = this.#world;
    const token = ownToken(this.#world, this.#files(id).directory) ?? random.bytes(32).toHex();
    const again = restored && {
      preface: await this.#banner(terminal, restored.message),
      typed: restored.typed,
      startAt: restored.offset,
    };
    const facts = { id, generation, recipe: recipeNow(terminal), token, tape: this.#options.tape };
    await writeTerminalSpec(this.#world, { ...facts, ...again });
    this.#starts.launch(terminal);
    return ok(undefined);
  }

  #relaunch(id: string): void {
    const terminal = this.#ports.terminal(id);
    if (terminal !== undefined) this.#starts.relaunch(terminal);
  }

  /** A screen that cannot be drawn in time does not prevent a terminal from being restored. */
  async #banner(terminal: Terminal, message: string): Promise<string> {
    const plain = plainRestoreBanner(message);
    const banner = this.#ports.farewell(terminal, message).catch(() => plain);
    return (await within(this.#world.clock, BANNER_MS, banner)) ?? plain;
  }

  /** Asks the program of a rolled-back terminal to end, then kills it; N2 repeats this. */
  #end(id: string): void {
    this.#work(id, this.#send(id, ["SIGHUP", "SIGTERM", "SIGCONT"]));
    this.#world.clock.after(GRACE_MS, () => {
      if (this.#ports.terminal(id)?.rollingBack === true) this.#work(id, this.#send(id, ["SIGKILL"]));
    });
  }

  async #send(id: string, signals: readonly string[]): Promise<void> {
    const { connections } = this.#held;
    if (await connections.reach(id)) for (const name of signals) connections.signal(id, name);
  }

  /** N5. `again`: it was asked for before, and may have been sent on this connection; without one, N2 sends it. */
  async #signal(id: string, again = false): Promise<void> {
    const { connections } = this.#held;
    const reached = await connections.reach(id);
    const signal = this.#ports.terminal(id)?.signal;
    if (!reached || signal === undefined) return;
    const connection = connections.get(id);
    const isSent = again && connection !== undefined && this.#signalledOn.get(id) === connection;
    if (!isSent && !connections.signal(id, signal.name)) return;
    if (connection !== undefined) this.#signalledOn.set(id, connection);
    if ((await connections.status(id)) === undefined) return;
    this.#signalledOn.delete(id);
    this.#ports.submit({ kind: "signalled", id });
  }

  #discard(id: string): void {
    const socket = holderSocket(this.#world.home, id);
    const drop = () => {
      this.#held.connections.drop(id);
      removeIfThere(this.#world.disk, socket);
    };
    const lives = this.#ports.terminal(id)?.state.kind === "uncertain" && this.#world.disk.stat(socket) !== undefined;
    const { connections } = this.#held;
    // The program of a terminal that was set aside may still run when it is removed.
    const kill = async () => void ((await connections.connect(id)) && connections.signal(id, "SIGKILL"));
    if (lives) this.#work(id, kill().finally(drop));
    else drop();
  }
}
