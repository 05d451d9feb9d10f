// The daemon's lines to its holders: made when there is something to say, and let go when nothing was said for a while.
// L1. Nobody is waited for without a limit: a holder that is stopped must hold up neither a recovery nor a list.
// L2. A line that is given up is cut: one that came up later would speak for us, and displace the next one.
// L3. A holder that was let go was well when we last heard it, and is trusted for as long as somebody has its pid; any other without a line is unknown.
//     A connected socket wakes both its processes about once a second (docs/BENCHMARKS.md): nobody at rest has one.
import { isFault } from "../../base/fault.ts";
import type { Result } from "../../base/result.ts";
import { type HomeWorld, readSpec, terminalFiles } from "../../home/held/holder-files.ts";
import { HolderClient } from "../../wire/holder/client.ts";
import type { HolderWire } from "../../wire/holder/framed-connection.ts";
import type { HolderExit, HolderSpec, HolderStatus } from "../../wire/holder/protocol.ts";
import type { Clock } from "../../world/clock.ts";
import type { Connection, Sockets } from "../../world/socket.ts";

/** A holder answers within a millisecond; one that was swapped out, on a busy machine, may take its time. */
const CONNECT_MS = 2_000;
/** Who lists terminals waits for the slowest of them. */
const STATUS_MS = 1_000;

export type LinesWorld = HomeWorld & { readonly sockets: Sockets };

/** Whose holders they are, where they are not those of terminals. */
export type LineWays = {
  spec(id: string): HolderSpec | undefined;
  /** There is a line again; the holder has said how it is. */
  welcomed(id: string, line: HolderClient, status: HolderStatus): void;
  /** Output came, up to this offset. */
  heard(line: HolderClient, end: number): void;
};

export type LineEvents = {
  ended(id: string, exit: HolderExit): void;
  /** The line is gone, and we did not close it. */
  lost(id: string): void;
};

/** `rounds`: since something was last asked or said. */
type Line = { readonly client: HolderClient; rounds: number };

export class HolderConnections {
  readonly #world: LinesWorld;
  readonly #events: LineEvents;
  readonly #ways: LineWays | undefined;
  readonly #lines = new Map<string, Line>();
  /** Those that were let go, with their holder's pid (L3). */
  readonly #resting = new Map<string, number>();
  readonly #connecting = new Map<string, Promise<HolderStatus | undefined>>();

  constructor(world: LinesWorld, events: LineEvents, ways?: LineWays) {
    this.#world = world;
    this.#events = events;
    this.#ways = ways;
  }

  has(id: string): boolean {
    return this.#lines.get(id)?.client.connected === true;
  }

  /** L3 */
  rests(id: string): boolean {
    const pid = this.#resting.get(id);
    return pid !== undefined && this.#world.processes.isTaken(pid);
  }

  /** A new line instead of the old one; undefined where nobody answers. Whoever comes while one is being made shares it. */
  connect(id: string): Promise<HolderStatus | undefined> {
    const made = this.#connecting.get(id) ?? this.#connect(id).finally(() => this.#connecting.delete(id));
    this.#connecting.set(id, made);
    return made;
  }

  async #connect(id: string): Promise<HolderStatus | undefined> {
    const { disk, home, sockets, clock } = this.#world;
    const ways = this.#ways;
    const spec = ways === undefined ? readSpec(terminalFiles(disk, home, id)) : ways.spec(id);
    if (spec === undefined) return undefined;
    this.drop(id);
    let connection: Connection | undefined;
    const dial = async (events: Parameters<Sockets["connect"]>[1]): Promise<HolderWire> => {
      connection = await sockets.connect(spec.socket, events);
      return connection;
    };
    const line: HolderClient = new HolderClient(
      dial,
      { token: spec.token, writer: "daemon", ...(ways !== undefined && { from: -1 }) },
      this.#lineEvents(id, () => line),
    );
    const status = await within(clock, CONNECT_MS, welcome(line)); // L1
    if (status === undefined)
      connection?.destroy(); // L2
    else this.#lines.set(id, { client: line, rounds: 0 });
    if (status !== undefined) ways?.welcomed(id, line, status);
    return status;
  }

  #lineEvents(id: string, line: () => HolderClient) {
    return {
      output: (offset: number, bytes: Uint8Array) => this.#ways?.heard(line(), offset + bytes.length),
      ended: (exit: HolderExit) => this.#events.ended(id, exit),
      lost: () => {
        if (this.#lines.get(id)?.client !== line()) return;
        this.#lines.delete(id);
        this.#events.lost(id);
      },
    };
  }

  /** What the holder says of itself; undefined where it does not answer in time, or is unknown. */
  async status(id: string): Promise<HolderStatus | undefined> {
    this.#use(id);
    return this.#ask(id);
  }

  /** The same, and no use of the line: one that rests goes on resting. */
  async glance(id: string): Promise<HolderStatus | undefined> {
    const rested = this.#resting.has(id);
    const status = await this.#ask(id);
    if (rested) this.#letGo(id);
    return status;
  }

  #ask(id: string): Promise<HolderStatus | undefined> {
    const line = this.#lines.get(id)?.client;
    if (line !== undefined) return within(this.#world.clock, STATUS_MS, answered(line.askStatus()));
    return this.#answers(id) ? within(this.#world.clock, STATUS_MS, this.connect(id)) : Promise.resolve(undefined);
  }

  /** Whether a line can be expected where there is none: it rests, or somebody is at it. */
  #answers(id: string): boolean {
    return this.#resting.has(id) || this.#connecting.has(id);
  }

  /** Sees to it that there is a line; false where there is none, and none can be had. */
  async reach(id: string): Promise<boolean> {
    if (!this.has(id) && this.#answers(id)) await this.connect(id);
    return this.has(id);
  }

  /** False where there is no line. */
  signal(id: string, name: string): boolean {
    if (!this.has(id)) return false;
    this.#use(id);
    this.#lines.get(id)?.client.signal(name);
    return true;
  }

  #use(id: string): void {
    const line = this.#lines.get(id);
    if (line !== undefined) line.rounds = 0;
  }

  /** Called on every round: lets go of each line that was not used for so many of them (L3). */
  rest(rounds: number): void {
    for (const [id, line] of [...this.#lines]) {
      line.rounds += 1;
      if (line.rounds > rounds) this.#letGo(id);
    }
  }

  #letGo(id: string): void {
    const pid = this.has(id) ? this.#lines.get(id)?.client.status?.pid : undefined;
    if (pid === undefined) return;
    this.drop(id);
    this.#resting.set(id, pid);
  }

  drop(id: string): void {
    this.#lines.get(id)?.client.close();
    this.#lines.delete(id);
    this.#resting.delete(id);
  }

  /** Lets go of every holder; they live on. */
  close(): void {
    for (const id of [...this.#lines.keys()]) this.drop(id);
  }
}

async function answered(asked: Promise<Result<HolderStatus>>): Promise<HolderStatus | undefined> {
  const answer = await asked;
  return answer.ok ? answer.value : undefined;
}

/** Undefined where nobody answers. */
export async function welcome(line: HolderClient): Promise<HolderStatus | undefined> {
  try {
    return await answered(line.connect());
  } catch (error) {
    if (isFault(error)) return undefined; // Nobody listens there.
    throw error;
  }
}

/** What comes in time; undefined where it does not. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const cancel = clock.after(ms, () => late.resolve(undefined));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    cancel();
  }
}
