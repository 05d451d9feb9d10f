// Keeps the tmux sessions under our care: looks at their servers, saves changes, and re-creates lost sessions.
// K1. If no session is under our care, nothing runs. Otherwise each server is looked at periodically, and one client
//     waits at each (lookout.ts), so that its end is known at once. In between nothing is done.
// K2. One thing at a time, in the order of the requests: concurrent work on one tmux server would conflict.
// K3. In safe mode nothing is saved and nothing re-created; both resume when it is left.
// K4. What cannot be done now (a full disk, a tmux that does not answer) is retried on the next round, and shown in the
//     listing. After several failed re-creations, the session waits for the operator.
// K5. A server that is not ours is never told to end, and is only looked at.
// K6. How a server ended says nothing about the next one at its socket.
// K7. A session that was released while it was being made again may be half-built. Its server is looked at until it has
//     answered once, and what is left there is ended.
import { type Fault, isFault } from "../../base/fault.ts";
import type { Result } from "../../base/result.ts";
import { judgeTmux, type TmuxVerdict } from "../../core/tmux/judge.ts";
import { sameServer, type TmuxCare, type TmuxCommand, type TmuxServer } from "../../core/tmux/tmux.ts";
import type { ProcessIdentity } from "../../world/process.ts";
import { type TmuxRun, type TmuxWorld, tmuxRunner } from "./client.ts";
import { lookAt, sessionsIn, type TmuxSeen } from "./look.ts";
import { TmuxLookout } from "./lookout.ts";
import { readNotes } from "./notes.ts";
import { namesOfHalves, Rebuild, type RebuildWorld } from "./rebuild.ts";
import { type SaverOptions, type SaverWorld, TmuxSaver } from "./saver.ts";

export type KeeperWorld = TmuxWorld & SaverWorld & RebuildWorld;
export type KeeperOptions = SaverOptions & { readonly roundMs: number };

export type KeeperPorts = {
  cares(): Iterable<TmuxCare>;
  care(id: string): TmuxCare | undefined;
  submit(command: TmuxCommand): Promise<Result<TmuxCare>>;
  /** K3 */
  mayAct(): boolean;
  /** PB2 of part.ts */
  onBug(error: unknown, id: string): void;
  say(words: string): void;
};

/** What was found about one session, for reports. */
export type Tended = {
  readonly care: TmuxCare;
  readonly found: TmuxVerdict | undefined;
  readonly trouble: string | undefined;
};

/** K4 */
const MAX_FAILURES = 3;
/** A server that is exiting is gone within milliseconds. */
const LEAVING_MS = 1_000;
const PAUSE_MS = 10;

export class TmuxKeeper {
  readonly run: TmuxRun;
  readonly #world: KeeperWorld;
  readonly #options: KeeperOptions;
  readonly #ports: KeeperPorts;
  readonly #lookout: TmuxLookout;
  readonly #savers = new Map<string, TmuxSaver>();
  readonly #troubles = new Map<string, string>();
  readonly #failures = new Map<string, number>();
  /** K7: the released sessions of which nothing is left. */
  readonly #cleared = new Set<string>();
  #line: Promise<unknown> = Promise.resolve();
  #cancel: (() => void) | undefined;
  #rounds = false;

  constructor(world: KeeperWorld, options: KeeperOptions, ports: KeeperPorts, run: TmuxRun = tmuxRunner(world)) {
    this.#world = world;
    this.#options = options;
    this.#ports = ports;
    this.run = run;
    this.#lookout = new TmuxLookout(world, (socket, inOrder) => {
      this.#later(() => this.#serverLeft(socket, inOrder));
    });
  }

  /** K1: starts the periodic rounds. */
  startPolling(): void {
    this.#rounds = true;
    this.#arm();
  }

  #arm(): void {
    if (!this.#rounds || this.#cancel !== undefined || this.#sockets().size === 0) return; // K1
    this.#cancel = this.#world.clock.after(this.#options.roundMs, () => {
      this.#cancel = undefined;
      this.#later(async () => void (await this.#tendAll()));
    });
  }

  close(): void {
    this.#rounds = false;
    this.#cancel?.();
    this.#lookout.close();
  }

  /** Called when a session was adopted or is to be re-created. `afresh`: the operator asked for it (K4). */
  attend(id: string, afresh = false): void {
    if (afresh) this.#failures.delete(id);
    this.#later(async () => {
      const care = this.#ports.care(id);
      if (care !== undefined) await this.#tendSocket(care.socket);
    });
  }

  /** Makes one round now; returns the outcome for each session. */
  round(): Promise<readonly Tended[]> {
    return this.#inLine(() => this.#tendAll());
  }

  /** When the last good checkpoint was made, and what prevents a new one. Never fails: it is part of replies about what
   *  is already done. */
  stateOf(id: string): { readonly savedAt: string | null; readonly trouble: string | null } {
    const trouble = this.#troubles.get(id) ?? null;
    try {
      const saved = this.#saver(id).load();
      return { savedAt: "time" in saved ? saved.time : null, trouble };
    } catch (error) {
      if (!isFault(error)) throw error;
      return { savedAt: null, trouble: trouble ?? error.message };
    }
  }

  /** The servers that our sessions are on: we never end them, regardless of who started them. */
  servers(): ProcessIdentity[] {
    return this.#open().flatMap(({ state }) => (state.kind === "kept" ? [state.place.server] : []));
  }

  #open(): TmuxCare[] {
    return [...this.#ports.cares()].filter(
      ({ released, state }) => !released && (state.kind === "kept" || isWanted(state)),
    );
  }

  /** K7 */
  #uncleared(): TmuxCare[] {
    return [...this.#ports.cares()].filter(
      ({ id, released, state }) => released && isWanted(state) && !this.#cleared.has(id),
    );
  }

  #sockets(): Set<string> {
    return new Set([...this.#open(), ...this.#uncleared()].map(({ socket }) => socket));
  }

  async #tendAll(): Promise<Tended[]> {
    const all: Tended[] = [];
    for (const socket of this.#sockets()) all.push(...(await this.#tendSocket(socket)));
    return all;
  }

  /** `inOrder`: the server, if it ended in order. It disconnects its clients a moment before it is gone. */
  async #serverLeft(socket: string, inOrder: TmuxServer | undefined): Promise<void> {
    const { clock, processes } = this.#world;
    const deadline = clock.elapsed() + LEAVING_MS;
    while (inOrder !== undefined && processes.alive(inOrder) && clock.elapsed() < deadline) {
      await new Promise<void>((again) => clock.after(PAUSE_MS, again));
    }
    await this.#tendSocket(socket, inOrder);
  }

  /** A server whose answer cannot be handled fails for its sessions; the others are tended. */
  async #tendSocket(socket: string, inOrder?: TmuxServer): Promise<Tended[]> {
    const cares = this.#open().filter((care) => care.socket === socket);
    if (!this.#sockets().has(socket)) return [];
    try {
      return await this.#tendServer(socket, cares, inOrder);
    } catch (error) {
      return cares.map((care) => ({ care, found: undefined, trouble: this.#describe(care, error) }));
    }
  }

  /** `left`: a server that ended in order. Meanwhile there may be another one at its socket (K6). */
  async #tendServer(socket: string, cares: readonly TmuxCare[], left: TmuxServer | undefined): Promise<Tended[]> {
    const uncleared = this.#uncleared().filter((care) => care.socket === socket);
    const seen = await lookAt(this.run, this.#world, { path: socket });
    const isOpen = this.#keptAt(socket).some((care) => !this.#isAlive(care) && !wasAt(care, left));
    const heard = isOpen ? await this.#lookout.endedInOrder(socket) : undefined;
    const isClear = seen.ok ? await this.#endUnwanted(seen.value, socket) : seen.error.code === "no-server";
    if (isClear) for (const { id } of uncleared) this.#cleared.add(id); // K7
    const tended: Tended[] = [];
    for (const care of cares)
      tended.push(await this.#tend(care, seen.ok ? seen.value : undefined, wasAt(care, left) || wasAt(care, heard)));
    // At a server that does not answer, a client would end at once, which says nothing about the server.
    const isThere = tended.some(({ care, found }) => care.state.kind === "kept" && found?.kind !== "unknown");
    if (this.#rounds && isThere) this.#lookout.watch(socket);
    return tended;
  }

  #keptAt(socket: string): TmuxCare[] {
    return this.#open().filter((care) => care.socket === socket && care.state.kind === "kept");
  }

  #isAlive({ state }: TmuxCare): boolean {
    return state.kind === "kept" && this.#world.processes.alive(state.place.server);
  }

  async #tend(care: TmuxCare, seen: TmuxSeen | undefined, orderly: boolean): Promise<Tended> {
    const { found, trouble } = await this.#judgeAndAct(care, seen, orderly);
    if (trouble === undefined) this.#troubles.delete(care.id);
    else this.#troubles.set(care.id, trouble);
    return { care: this.#ports.care(care.id) ?? care, found, trouble };
  }

  async #judgeAndAct(care: TmuxCare, seen: TmuxSeen | undefined, orderly: boolean): Promise<Omit<Tended, "care">> {
    let found: TmuxVerdict | undefined;
    try {
      found = this.#judge(care, seen, orderly);
      return { found, trouble: await this.#act(care, found, seen) };
    } catch (error) {
      return { found, trouble: this.#describe(care, error) };
    }
  }

  /** K4 */
  #describe({ id }: TmuxCare, error: unknown): string {
    if (isFault(error)) return wordsOf(error);
    this.#ports.onBug(error, id);
    return String(error);
  }

  #judge(care: TmuxCare, seen: TmuxSeen | undefined, orderly: boolean): TmuxVerdict {
    const answer = seen === undefined ? undefined : { server: seen.server, sessions: sessionsIn(seen) };
    return judgeTmux(care, { answer, alive: this.#isAlive(care), orderly });
  }

  /** Returns what went wrong; undefined if nothing did. */
  async #act(care: TmuxCare, found: TmuxVerdict, seen: TmuxSeen | undefined): Promise<string | undefined> {
    const { id, state } = care;
    if (found.kind === "unknown") return found.reason;
    if (found.kind === "closed")
      return refusalOf(await this.#ports.submit({ kind: "closed", id, reason: found.reason }));
    if (found.kind === "there") {
      const { place, name } = found;
      if (state.kind !== "kept") {
        // An earlier daemon re-created it, but died before it could record that.
        await this.#ports.submit({ kind: "recreated", id, name, place, notes: readNotes(this.#world, id) });
      } else await this.#ports.submit({ kind: "named", id, name });
      return this.#save(care, seen?.panes.filter(({ session }) => session === place.session) ?? []);
    }
    if (state.kind === "kept")
      await this.#ports.submit({ kind: "lost", id, reason: found.reason, orderly: found.orderly });
    const now = this.#ports.care(id);
    return now !== undefined && isWanted(now.state) ? this.#recreate(now) : undefined;
  }

  /** Ends half-built sessions (B1 of rebuild.ts) that nobody wants any more, or that a hung client has made too late.
   *  Returns whether none is left. */
  async #endUnwanted({ panes }: TmuxSeen, socket: string): Promise<boolean> {
    const unwanted = [...this.#ports.cares()].filter(({ released, state }) => released || !isWanted(state));
    const names = new Set(unwanted.flatMap(({ id }) => namesOfHalves(id)));
    const halves = new Map(panes.map((pane) => [pane.sessionName, pane])).values();
    let isClear = true;
    for (const { sessionName, attached } of halves) {
      if (!names.has(sessionName)) continue;
      const commands = [["kill-session", "-t", `=${sessionName}`]];
      const mayEnd = !attached && this.#ports.mayAct(); // K3
      const isEnded = mayEnd && (await this.run({ socket: { path: socket }, commands })).ok;
      isClear &&= isEnded; // K4
    }
    return isClear;
  }

  async #save(care: TmuxCare, panes: TmuxSeen["panes"]): Promise<string | undefined> {
    if (!this.#ports.mayAct() || panes.length === 0) return undefined; // K3
    return refusalOf(await this.#saver(care.id).save({ path: care.socket }, panes));
  }

  async #recreate(care: TmuxCare): Promise<string | undefined> {
    const failures = this.#failures.get(care.id) ?? 0;
    if (!this.#ports.mayAct()) return "safe mode: it is made again when that is left"; // K3
    if (failures >= MAX_FAILURES) return this.#troubles.get(care.id); // K4
    this.#failures.set(care.id, failures + 1);
    const saved = this.#saver(care.id).load();
    if ("reason" in saved) return `it cannot be made again: ${saved.reason}`;
    await this.#saver(care.id).keepBefore(saved);
    const rebuilt = await new Rebuild(this.run, this.#world, care, saved).build();
    if (!rebuilt.ok) return rebuilt.error.message;
    const { id } = care;
    const told = await this.#ports.submit({ kind: "recreated", id, ...rebuilt.value });
    this.#failures.delete(id);
    return refusalOf(told);
  }

  #saver(id: string): TmuxSaver {
    const saver = this.#savers.get(id) ?? new TmuxSaver(this.run, this.#world, this.#options, id);
    this.#savers.set(id, saver);
    return saver;
  }

  /** K2 */
  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#line.then(work);
    this.#line = done.catch((error: unknown) => error); // The caller gets the error through `done`.
    return done;
  }

  #later(work: () => Promise<unknown>): void {
    void this.#inLine(work)
      .catch((error: unknown) => {
        if (!isFault(error)) this.#ports.say(`tmux sessions could not be checked: ${String(error)}`); // K4
      })
      .finally(() => this.#arm());
  }
}

function wasAt({ state }: TmuxCare, server: TmuxServer | undefined): boolean {
  return server !== undefined && state.kind === "kept" && sameServer(server, state.place.server);
}

function isWanted(state: TmuxCare["state"]): boolean {
  return state.kind === "lost" && state.wanted;
}

function refusalOf(result: Result<unknown>): string | undefined {
  return result.ok ? undefined : result.error.message;
}

function wordsOf({ message, hint }: Fault): string {
  return `${message}. ${hint}`;
}
