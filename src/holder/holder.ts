// Holder: one child, its output on a tape, and the attached clients.
// O1. The child is started at most once, after the claim. Clients are read from then on.
// O2. The order at the end: output drained → tape synced → exit.json durable → ENDED announced → gone. It is announced
//     to whoever gave the order, by touching the socket, for a daemon that is not connected, and to the clients.
// O3. Every wait is bounded, whether a client does not read or the child does not read.
// O4. A start that the system refuses for now is tried again until it succeeds or a signal gives it up
//     (start-fault.ts). Until then clients get the reason with the status, and their input is refused.
// O5. Only the operator acts on the child; an attempt of anyone else is recorded (C3 of client.ts). In a home without
//     agents no one is looked at, nor is the daemon that started us.
// O6. What the program asks its terminal is answered once: by one window (Z4 of sizing.ts), or by us if there is none,
//     if need be with the help of the screen program (questions.ts), in which case the socket is touched too.

import { type Fault, isFault } from "../base/fault.ts";
import { Callers } from "../home/callers.ts";
import { homeOf } from "../home/held/holder-files.ts";
import type { Journal } from "../log/file/journal.ts";
import { SizeLog } from "../log/tape/sizes.ts";
import * as protocol from "../wire/holder/protocol.ts";
import type { Children, Ending } from "../world/children.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Kinship } from "../world/process.ts";
import type { Connection, ConnectionEvents, Sockets } from "../world/socket.ts";
import { within } from "../world/wait.ts";
import { Answering } from "./answering.ts";
import { ChangeReport } from "./change-report.ts";
import { type Child, startChild } from "./child.ts";
import { Client, type Host } from "./client.ts";
import { Clients } from "./clients.ts";
import { Writers } from "./input.ts";
import { type HolderNews, NO_NEWS } from "./news.ts";
import { Output } from "./output.ts";
import { ReadyLine } from "./ready-line.ts";
import type { Recorder } from "./recorder.ts";
import { recordExit } from "./records.ts";
import { Rest } from "./rest.ts";
import { Sizing } from "./sizing.ts";
import { exitCodeOf, pauseAfter, WHY_NOT } from "./start-fault.ts";

export type HolderWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly processes: Kinship;
  readonly sockets: Sockets;
  readonly children: Children;
  /** Returns unused memory to the system. */
  readonly rest: () => void;
};

/** How much input the child may leave unread. Beyond it, the typing client is not read either (O3). */
const MAX_INPUT_WAITING = 256 << 10;
/** O3: how long the clients have to read the rest after the end. */
const GOODBYE_MS = 3000;
/** The time between asking a child to end and killing it. */
const KILL_MS = 10_000;
/** O4: those that would end a program that does not handle them. */
const ENDING_SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGKILL"];

/** The child before its start, while it runs, and after its end. `why` it was not started yet: the last fault (O4). */
type Life =
  | { readonly kind: "waiting"; readonly why?: Fault }
  | { readonly kind: "living"; readonly child: Child; readonly startTime: number }
  | { readonly kind: "ended"; readonly exit: protocol.HolderExit | null };

export class Holder implements Host {
  readonly clock: Clock;
  readonly #world: HolderWorld;
  readonly #spec: protocol.HolderSpec;
  readonly #place: Parameters<typeof recordExit>[0];
  readonly #writers: Writers;
  readonly #sizing: Sizing<Client>;
  readonly #output: Output;
  readonly #sizes: SizeLog;
  readonly #clients = new Clients();
  readonly #answering: Answering;
  #news = NO_NEWS;
  readonly #callers: Callers;
  readonly #rest: Rest;
  readonly #changes: ChangeReport;
  readonly #ended = Promise.withResolvers<Ending>();
  #life: Life = { kind: "waiting" };
  #startedAt: string;
  #stopping = false;
  #ready: ReadyLine | undefined;

  constructor(world: HolderWorld, spec: protocol.HolderSpec, directory: string, journal?: Journal) {
    this.clock = world.clock;
    this.#world = world;
    this.#spec = spec;
    this.#place = { ...world, directory, journal };
    this.#writers = new Writers(spec.generation);
    this.#sizing = new Sizing(spec.size);
    this.#output = new Output(world, directory, spec, (parts, end) => this.#clients.offer(parts, end));
    this.#sizes = new SizeLog(world.disk, directory);
    this.#answering = new Answering(world.clock, this.#sizing, {
      flush: () => this.#flushed(),
      type: (text) => this.#typeAnswer(text),
      ask: () => this.#news.changed(),
    });
    const shown = () => `${this.#clients.windows} ${this.#output.trouble}`;
    this.#changes = new ChangeReport(world.clock, shown, () => this.#news.changed());
    this.#output.onTrouble = () => this.#changes.look();
    this.#rest = new Rest(world.clock, world.rest);
    this.#callers = new Callers(world, homeOf(spec));
    this.#startedAt = this.#now();
  }

  get token(): string {
    return this.#spec.token;
  }

  /** The pid of the child, while it runs. */
  get child(): number | undefined {
    return this.#life.kind === "living" ? this.#life.child.pid : undefined;
  }

  get recorder(): Recorder {
    return this.#output.tape;
  }

  accept(connection: Connection): ConnectionEvents {
    const client = new Client(connection, this);
    this.#clients.admit(connection);
    return client.events;
  }

  seat(connection: Connection): boolean {
    return this.#clients.seat(connection, () => {
      if (!this.#callers.hasAgents) return undefined;
      const { principal, agent } = this.#callers.of(connection);
      return principal === "operator" ? undefined : (agent ?? principal);
    });
  }

  /** O5 */
  whyNot(connection: Connection): protocol.HolderRefusal | undefined {
    if (!this.#callers.hasAgents || this.#callers.isParent(connection)) return undefined;
    return this.#callers.refusal(this.#callers.of(connection), `type into ${this.#spec.id}`);
  }

  /** Starts the child, and resolves when its end is durable and announced (O2). */
  async run(news: HolderNews): Promise<void> {
    this.#news = news;
    this.#startedAt = this.#now();
    this.#rest.stir();
    this.#recordSize();
    if (this.#spec.preface !== undefined) void this.#output.said(Buffer.from(this.#spec.preface));
    await this.#start();
    this.#news.begun();
    if (this.#stopping) this.stop();
    this.#clients.open(); // O1
    await this.#finish(await this.#ended.promise);
    this.#output.close();
  }

  /** Asks the child to end; everything else follows from its end. */
  stop(): void {
    this.#stopping = true;
    for (const name of ["SIGHUP", "SIGTERM", "SIGCONT"]) this.signal(name);
    this.clock.after(KILL_MS, () => this.signal("SIGKILL"));
  }

  joined(client: Client): void {
    this.#output.flush(); // So that the tape end in its status is also right for the followers.
    this.#clients.add(client);
    this.#changes.look();
  }

  welcomed(client: Client): void {
    this.#clients.welcomed(client);
    this.#answering.welcomed(client);
  }

  left(client: Client): void {
    this.#rest.stir(); // A connection leaves more garbage than some output.
    this.#clients.remove(client);
    this.#changes.look();
    this.#answering.left(client);
    if (this.#sizing.left(client)) this.#fit();
    this.#answering.choose();
  }

  resize(client: Client, size: protocol.HolderSize): void {
    if (this.#sizing.resized(client, size)) this.#fit();
    this.#answering.choose();
  }

  choose(sizing: protocol.HolderSizing): void {
    if (this.#sizing.choose(sizing)) this.#fit();
    this.#answering.choose();
  }

  signal(name: string): boolean {
    if (this.#life.kind === "living") return this.#life.child.signal(name);
    if (!this.#isRefused() || !ENDING_SIGNALS.includes(name)) return false;
    this.#ended.resolve({ kind: "signalled", signal: name }); // O4
    return true;
  }

  consumed(offset: number): void {
    this.#output.pressure.consume(offset);
  }

  endInput(): void {
    if (this.#life.kind === "living") this.#life.child.endInput();
  }

  /** O6. One that was meant for an earlier generation names another question. */
  answer({ generation, n, answer }: protocol.HolderAnswer): void {
    if (generation === this.#spec.generation) this.#answering.answer(n, answer);
  }

  input(client: Client, input: protocol.Input): void {
    const { number, bytes } = input;
    const verdict = this.#judge(client, input);
    if (verdict.kind === "refused") {
      client.refuse(verdict.refusal);
      return;
    }
    if (verdict.kind === "new") this.#type(client, bytes);
    client.send(protocol.numberFrame(protocol.INPUT_TAKEN, number));
  }

  status(): protocol.HolderStatus {
    const { start, end, gaps } = this.#output.tape;
    const life = this.#life;
    return {
      v: protocol.PROTOCOL,
      generation: this.#spec.generation,
      mode: this.#spec.mode,
      pid: this.#world.processes.pid,
      child: life.kind === "living" ? { pid: life.child.pid, startTime: life.startTime } : null,
      startedAt: this.#startedAt,
      tape: { start, end, gaps },
      consumed: this.#output.pressure.consumed,
      size: this.#sizing.size,
      clients: this.#clients.count,
      lastOutputAt: this.#output.lastAt,
      writers: this.#writers.taken,
      exit: life.kind === "ended" ? life.exit : null,
      trouble: this.#output.trouble,
      reports: true,
      ...(this.#answering.open.length > 0 && { asking: this.#answering.open }),
      ...(life.kind === "waiting" && life.why !== undefined && { waiting: `${life.why.message}. ${life.why.hint}` }),
    };
  }

  #judge(client: Client, input: protocol.Input) {
    const { number } = input;
    if (client.whyNot !== null) return { kind: "refused", refusal: { ...client.whyNot, number } } as const;
    if (this.#life.kind === "waiting") return { kind: "refused", refusal: { ...NOT_STARTED, number } } as const;
    if (this.#life.kind === "ended") return { kind: "refused", refusal: { ...ENDED, number } } as const;
    return this.#writers.take(client.writer, input);
  }

  #type(client: Client, bytes: Uint8Array): void {
    if (this.#life.kind !== "living") return;
    const { child } = this.#life;
    this.#ready?.forget();
    this.#output.typed(bytes);
    child.write(bytes);
    if (this.#sizing.typed(client)) this.#fit();
    this.#answering.choose();
    this.#answering.typed(bytes);
    if (child.waiting > MAX_INPUT_WAITING) this.#clients.hold(client); // O3
  }

  #flushed(): number {
    this.#output.flush();
    return this.#output.tape.end;
  }

  /** A program that only asks and never reads gets no more answers (O3). */
  #typeAnswer(text: string): void {
    if (this.#life.kind !== "living" || this.#life.child.waiting > MAX_INPUT_WAITING) return;
    this.#life.child.write(Buffer.from(text));
  }

  #fit(): void {
    if (this.#life.kind === "ended") return;
    this.#output.flush(); // The output so far was made for the old size.
    this.#recordSize();
    if (this.#life.kind === "living") this.#life.child.resize(this.#sizing.size);
  }

  /** Valid from this offset of the tape on. */
  #recordSize(): void {
    if (this.#spec.mode !== "pty") return;
    const at = { offset: this.#output.tape.end, ...this.#sizing.size };
    void this.#sizes.record(at);
    this.#clients.tell(protocol.jsonFrame(protocol.SIZE_IS, at));
  }

  #childEvents() {
    return {
      output: (bytes: Uint8Array) => {
        this.#rest.stir();
        this.#ready?.heard();
        const mayGoOn = this.#output.said(bytes);
        if (this.#spec.mode === "pty") this.#answering.output(bytes); // O6
        return mayGoOn;
      },
      errors: (bytes: Uint8Array) => this.#output.complained(bytes),
      drained: () => this.#clients.resume(),
      ended: (ending: Ending) => this.#ended.resolve(ending),
    };
  }

  /** O4 */
  async #start(): Promise<void> {
    for (let failures = 1; ; failures += 1) {
      const fault = this.#tryStart();
      const code = fault && exitCodeOf(fault);
      if (fault === undefined) return;
      if (code !== undefined) return this.#cannotStart(fault, code);
      this.#life = { kind: "waiting", why: fault };
      this.#news.begun();
      this.#clients.open();
      if (this.#stopping) this.stop();
      if ((await within(this.clock, pauseAfter(failures), this.#ended.promise)) !== undefined) return;
    }
  }

  /** Whether the system has refused to start the child, so far (O4). */
  #isRefused(): boolean {
    return this.#life.kind === "waiting" && this.#life.why !== undefined;
  }

  /** Returns why it was not started. */
  #tryStart(): Fault | undefined {
    try {
      const child = startChild(this.#world.children, this.#spec, this.#sizing.size, this.#childEvents());
      this.#life = { kind: "living", child, startTime: this.#world.processes.startTime(child.pid) ?? 0 };
      if (this.#spec.typed) this.#ready = new ReadyLine(this.clock, child, this.#spec.typed);
      return undefined;
    } catch (error) {
      if (!isFault(error)) throw error;
      return error;
    }
  }

  #cannotStart(fault: Fault, code: number): void {
    const [program] = this.#spec.argv;
    const known = fault.message === `start ${program}: ${fault.code}` ? WHY_NOT[fault.code] : undefined;
    const why = known === undefined ? fault.message : `${known} (${fault.code})`;
    void this.#output.said(Buffer.from(`holdfast: ${program} cannot be started: ${why}\r\n${fault.hint}\r\n`));
    this.#ended.resolve({ kind: "exited", code });
  }

  /** O2 */
  async #finish(ending: Ending): Promise<void> {
    const unstarted = this.#isRefused();
    this.#life = { kind: "ended", exit: null };
    this.#ready?.forget();
    this.#answering.close();
    this.#rest.end();
    this.#clients.resume(); // Clients that were held back because of the child must get its end.
    await this.#output.finish();
    const exit = { ...this.#exitOf(ending), ...(unstarted && { unstarted }) };
    await recordExit(this.#place, exit, this.#output.hasTapes);
    this.#life = { kind: "ended", exit };
    this.#news.over();
    const told = this.#clients.finish(protocol.jsonFrame(protocol.ENDED, exit));
    await Promise.race([told, new Promise<void>((late) => this.clock.after(GOODBYE_MS, late))]); // O3
  }

  #exitOf(ending: Ending): protocol.HolderExit {
    return {
      v: protocol.PROTOCOL,
      generation: this.#spec.generation,
      code: ending.kind === "exited" ? ending.code : null,
      signal: ending.kind === "signalled" ? ending.signal : null,
      bootId: this.#world.processes.bootId(),
      offset: this.#output.tape.end,
      at: this.#now(),
      ...(this.#stopping && { stopped: true }),
    };
  }

  #now(): string {
    return new Date(this.clock.now()).toISOString();
  }
}

const ENDED = {
  code: "holder.ended",
  message: "The program has ended.",
  hint: "Start it again, or open another terminal.",
};

const NOT_STARTED = {
  code: "holder.not-started",
  message: "The program could not be started yet.",
  hint: "It is tried again: `holdfast ls` shows its state.",
};
