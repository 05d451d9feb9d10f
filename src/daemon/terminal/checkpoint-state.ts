// What a checkpoint records about the terminals, taken from the process table, the tapes and, through the screen
// program, the screens.
// V1. Idle terminals are not queried: if the files of a tape have not grown, nothing is new and its holder is not
//     woken. Between two checkpoints only the last file is looked at; a newer one is noticed within a minute, or by the
//     next checkpoint.
// V2. If a snapshot is not ready in time, the previous one is used: that one plus the tape since then is still the
//     exact screen. A late snapshot goes into the next checkpoint; a tape that takes long to draw never delays the
//     record of directories and commands.
// V3. A terminal that is not running keeps its last record until it has ended or was removed: a restoration that
//     failed, or that waits for a person, must not overwrite what it was to restore.
// V4. No secret is written to disk: the environment passes the filter (core/environment.ts).
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { type EnvironmentRules, keepEnvironment } from "../../core/environment.ts";
import { type CheckpointSession, type RestorePolicy, screenOf, shellLine } from "../../core/terminal/checkpoint.ts";
import type { Foreground, Sighting } from "../../core/terminal/restoration.ts";
import { originOf } from "../../core/terminal/restore-commands.ts";
import type { ScreenSnapshot } from "../../core/terminal/screen.ts";
import type { Terminal, TerminalSize } from "../../core/terminal/terminal.ts";
import { type HomeWorld, terminalDirectory } from "../../home/held/holder-files.ts";
import { endOf, listStretches, type Stretch } from "../../log/tape/segments.ts";
import type { HolderStatus } from "../../wire/holder/protocol.ts";
import type { ForegroundProcess } from "../../world/process.ts";
import type { AgentsInFront } from "./agents-in-front.ts";

export type ScreenRequest = {
  readonly id: string;
  readonly size: TerminalSize;
  /** The previous snapshot: only the tape since then has to be read. */
  readonly from?: ScreenSnapshot;
  /** The limit for the scrollback; the visible screen is always complete. */
  readonly maxBytes: number;
};

/** Draws screens. Those that it cannot draw are missing from the answer. */
export interface ScreenPort {
  snapshot(requests: readonly ScreenRequest[]): Promise<ReadonlyMap<string, ScreenSnapshot>>;
}

export type StateOptions = { readonly scrollbackBytes: number; readonly environment: EnvironmentRules };

export type StatePorts = {
  readonly screens: ScreenPort;
  readonly agents: Pick<AgentsInFront, "look">;
  terminals(): Iterable<Terminal>;
  status(id: string): Promise<HolderStatus | undefined>;
  /** A late snapshot has arrived and waits for the next checkpoint (V2). */
  late(): void;
  /** PB2 of part.ts */
  onBug(error: unknown, id: string): void;
  guard(id: string, work: () => void): void;
};

/** What has happened since the last look. */
export type Pulse = { readonly changed: boolean; readonly inputs: number };

/** `end` of the tape, `inputs` taken by the holder so far, both as of the last look; undefined if it was not asked. */
type TerminalSeen = { readonly end: number; readonly inputs: number | undefined; readonly size: TerminalSize };
/** `end` of the tape at the request: the snapshot may stop a few bytes earlier, in front of an incomplete character. */
type Drawn = { readonly snapshot: ScreenSnapshot; readonly end: number };
type Environment = Readonly<Record<string, string>>;
type Running = Terminal & { readonly state: { readonly kind: "running" } };

export class CheckpointState {
  readonly #place: HomeWorld;
  readonly #options: StateOptions;
  readonly #ports: StatePorts;
  readonly #seen = new Map<string, TerminalSeen>();
  /** Where each tape last ended. */
  readonly #tails = new Map<string, Stretch>();
  #pulses = 0;
  readonly #last = new Map<string, CheckpointSession>();
  readonly #drawn = new Map<string, Drawn>();
  readonly #drawing = new Set<string>();
  /** The terminals that were seen running by this daemon. */
  readonly #seenNow = new Set<string>();
  /** A recipe never changes, and filtering its variables is most of the cost of a checkpoint. */
  readonly #kept = new WeakMap<Environment, Environment>();

  constructor(place: HomeWorld, options: StateOptions, ports: StatePorts) {
    this.#place = place;
    this.#options = options;
    this.#ports = ports;
  }

  /** Takes over what the previous daemon recorded (V2, V3). */
  seed(sessions: Iterable<CheckpointSession>): void {
    for (const session of sessions) this.#last.set(session.terminalId, session);
  }

  /** The last record of a terminal; `now` if this daemon made it. */
  last(id: string): { readonly session: CheckpointSession; readonly now: boolean } | undefined {
    const session = this.#last.get(id);
    return session === undefined ? undefined : { session, now: this.#seenNow.has(id) };
  }

  /**
   * Cheap enough for every few seconds: a look at each tape's last file, and a query to the holders of those that grew
   * (V1).
   */
  pulse(): Promise<Pulse> {
    this.#pulses += 1;
    if (this.#pulses % LIST_EVERY === 0) this.#tails.clear();
    return this.#grown();
  }

  async #grown(): Promise<Pulse> {
    const grown: { readonly terminal: Running; readonly end: number }[] = [];
    for (const terminal of this.running())
      this.#ports.guard(terminal.id, () => {
        const end = this.tapeEnd(terminal.id);
        const seen = this.#seen.get(terminal.id) ?? this.#recorded(terminal);
        if (end !== seen.end) grown.push({ terminal, end });
        else this.#seen.set(terminal.id, seen);
      });
    const inputs = await Promise.all(grown.map(({ terminal, end }) => this.#ask(terminal, end)));
    return { changed: grown.length > 0, inputs: inputs.reduce((sum, each) => sum + each, 0) };
  }

  /** As the previous daemon recorded it: a holder at rest is not woken only because there is another daemon. */
  #recorded({ id, generation, recipe }: Running): TerminalSeen {
    const last = this.#last.get(id);
    const { screen, size } = last?.generation === generation ? last : { screen: null, size: recipe.size };
    return { end: screen?.offset ?? 0, inputs: undefined, size };
  }

  /** The number of inputs since the last look. The first look counts none: they may be days old. */
  async #ask({ id, recipe }: Running, end: number): Promise<number> {
    const before = this.#seen.get(id);
    const status = await this.#ports.status(id);
    const counts = status === undefined ? [before?.inputs ?? 0] : Object.values(status.writers);
    const inputs = counts.reduce((sum, number) => sum + number, 0);
    this.#seen.set(id, { end, inputs, size: status?.size ?? before?.size ?? recipe.size });
    return before?.inputs === undefined ? 0 : Math.max(0, inputs - before.inputs);
  }

  /** The records of all terminals that are to come back. */
  async sessions(): Promise<readonly CheckpointSession[]> {
    this.#tails.clear();
    await this.#grown();
    const open = [...this.#ports.terminals()].filter(({ removed, state }) => !removed && state.kind !== "ended");
    this.#forgetAllBut(new Set(open.map(({ id }) => id)));
    await this.#draw(open.filter(isRunning));
    const sessions: CheckpointSession[] = [];
    for (const terminal of open) {
      sessions.push(...this.#sessionsOf(terminal));
      if (sessions.length % AT_A_TIME === 0) await new Promise<void>((go) => this.#place.clock.soon(go));
    }
    this.seed(sessions);
    return sessions;
  }

  running(): Running[] {
    return [...this.#ports.terminals()].filter(isRunning);
  }

  /** V1 */
  tapeEnd(id: string): number {
    const { disk, home } = this.#place;
    const tail = this.#tails.get(id);
    const size = tail === undefined ? undefined : disk.stat(tail.path)?.size;
    if (tail !== undefined && size !== undefined) return tail.start + size;
    const stretches = listStretches(disk, joinPath(terminalDirectory(home, id), "tape"));
    const last = stretches.at(-1);
    if (last !== undefined) this.#tails.set(id, last);
    return endOf(stretches);
  }

  #forgetAllBut(ids: ReadonlySet<string>): void {
    for (const known of [this.#seen, this.#tails, this.#last, this.#drawn, this.#seenNow])
      for (const id of [...known.keys()]) if (!ids.has(id)) known.delete(id);
  }

  /** V2: requests the new snapshots and waits a limited time for them. */
  async #draw(running: readonly Running[]): Promise<void> {
    const { scrollbackBytes: maxBytes } = this.#options;
    if (maxBytes === 0) return;
    let inTime = true;
    const each = running.flatMap((terminal) => {
      const { id, recipe } = terminal;
      const from = this.#snapshot(terminal);
      const { end, size } = this.#seen.get(id) ?? { end: 0, size: recipe.size };
      if (this.#drawing.has(id) || end === (this.#drawn.get(id)?.end ?? from?.offset ?? 0)) return []; // V1
      return [this.#drawOne({ id, size, maxBytes, ...(from === undefined ? {} : { from }) }, end, () => inTime)];
    });
    const late = Promise.withResolvers<void>();
    const cancel = this.#place.clock.after(SCREENS_MS, () => late.resolve());
    await Promise.race([Promise.all(each), late.promise]);
    inTime = false;
    cancel();
  }

  /** One request per terminal: a slow one does not delay the others. */
  async #drawOne(request: ScreenRequest, end: number, inTime: () => boolean): Promise<void> {
    const { id, maxBytes } = request;
    this.#drawing.add(id);
    try {
      const snapshot = (await this.#ports.screens.snapshot([request])).get(id);
      if (snapshot === undefined || Buffer.byteLength(snapshot.vt) > maxBytes + VISIBLE_BYTES) return;
      this.#drawn.set(id, { snapshot, end });
      if (!inTime()) this.#ports.late();
    } catch (error) {
      if (!isFault(error)) this.#ports.onBug(error, id);
    } finally {
      this.#drawing.delete(id);
    }
  }

  /** One, or none if that fails and it was never recorded. */
  #sessionsOf(terminal: Terminal): CheckpointSession[] {
    let session = this.#last.get(terminal.id);
    this.#ports.guard(terminal.id, () => {
      session = this.#session(terminal);
    });
    return session === undefined ? [] : [session];
  }

  #session(terminal: Terminal): CheckpointSession {
    const last = this.#last.get(terminal.id);
    if (!isRunning(terminal)) return { ...(last ?? this.#byRecipe(terminal)), ...labels(terminal) }; // V3
    const off = this.#options.scrollbackBytes === 0;
    const { vt = "", ...screen } = (off ? undefined : this.#snapshot(terminal)) ?? {}; // V2
    this.#seenNow.add(terminal.id);
    return {
      ...this.#byRecipe(terminal),
      ...labels(terminal),
      ...this.#look(terminal),
      size: this.#seen.get(terminal.id)?.size ?? terminal.recipe.size,
      bootId: terminal.state.bootId,
      scrollbackSnapshot: vt,
      screen: "offset" in screen ? screen : null,
    };
  }

  /** What runs in it, and where. */
  #look({
    id,
    state,
    recipe,
  }: Running): Pick<CheckpointSession, "workingDirectory" | "foreground" | "agent" | "lookedAt"> {
    const front = this.#place.processes.foreground(state.pid);
    const isOwn = front === undefined || front.pid === state.pid;
    const foreground = isOwn ? null : this.#foreground(front);
    return {
      workingDirectory: front?.cwd ?? this.#last.get(id)?.workingDirectory ?? recipe.cwd,
      foreground,
      ...(front !== undefined && this.#agent(id, front, foreground)),
      lookedAt: new Date(this.#place.clock.now()).toISOString(),
    };
  }

  /** What must be durable of it: which conversation it is in. */
  #agent(id: string, front: ForegroundProcess, foreground: Foreground | null): Pick<CheckpointSession, "agent"> {
    const seen = this.#ports.agents.look(id, front, foreground?.elsewhere === true);
    if (seen === undefined) return {};
    const { name, session } = seen;
    return { agent: { name, ...(session !== undefined && { session }) } };
  }

  /** For what is kept between two checkpoints. */
  sighting(terminal: Terminal): Sighting | undefined {
    if (!isRunning(terminal) || this.#place.processes.foreground(terminal.state.pid) === undefined) return undefined;
    const { lookedAt: at = "", ...seen } = this.#look(terminal);
    const isSmall = (seen.foreground?.argv ?? []).join(" ").length <= MAX_COMMAND;
    return isSmall ? { ...seen, generation: terminal.generation, at } : undefined;
  }

  #snapshot(terminal: Terminal): ScreenSnapshot | undefined {
    const last = this.#last.get(terminal.id);
    return this.#drawn.get(terminal.id)?.snapshot ?? (last === undefined ? undefined : screenOf(last, terminal));
  }

  /** What is known without looking at the running program. */
  #byRecipe({ id, recipe, generation }: Terminal): Omit<CheckpointSession, keyof ReturnType<typeof labels>> {
    const { argv, cwd, env, size } = recipe;
    return {
      sessionId: id,
      terminalId: id,
      workingDirectory: cwd,
      environmentVariables: this.#filtered(env),
      scrollbackSnapshot: "",
      multiplexerSessionName: null,
      shellCommand: shellLine(argv),
      argv,
      size,
      generation,
      bootId: "",
      screen: null,
      foreground: null,
    };
  }

  /** V4 */
  #filtered(env: Environment): Environment {
    const kept = this.#kept.get(env) ?? keepEnvironment(env, this.#options.environment).kept;
    this.#kept.set(env, kept);
    return kept;
  }

  #foreground({ pid, argv, cwd, ageMs }: ForegroundProcess): Foreground {
    const origin = originOf(argv, this.#place.processes.origin(pid));
    return { argv, cwd, startedAt: new Date(this.#place.clock.now() - ageMs).toISOString(), ...origin };
  }
}

/** A longer one cannot be typed anyway (core/shell.ts), and would only make the file large. */
const MAX_COMMAND = 4096;
/** V1. In pulses: one minute. */
const LIST_EVERY = 12;
/** V2. Drawing the new part takes milliseconds; a whole tape after a start takes seconds. */
const SCREENS_MS = 2_000;
/** Far more than any visible screen needs; a larger one would only slow down the others. */
const VISIBLE_BYTES = 512 << 10;
/** The number of terminals whose processes are looked up in one go, which takes a millisecond or two. */
const AT_A_TIME = 25;

/** The log is more recent than anything seen before. */
function labels(terminal: Terminal) {
  return { name: terminal.name, laneId: terminal.lane, policy: policyOf(terminal) };
}

function policyOf(terminal: Terminal): RestorePolicy {
  const policy = "policy" in terminal ? terminal.policy : undefined;
  return policy === "ask" || policy === "never" ? policy : "auto";
}

function isRunning(terminal: Terminal): terminal is Running {
  return !terminal.removed && terminal.state.kind === "running";
}
