// The daemon's lines to its holders, one for each terminal that runs.
// L1. Nobody is waited for without a limit: a holder that is stopped must hold up neither a recovery nor a list.
// L2. A line that is given up is cut: one that came up later would speak for us, and displace the next one.
import { isFault } from "../base/fault.ts";
import type { HolderExit, HolderSpec, HolderStatus } from "../wire/holder.ts";
import { HolderClient } from "../wire/holder-client.ts";
import type { HolderWire } from "../wire/holder-line.ts";
import type { Clock } from "../world/clock.ts";
import type { Connection, Sockets } from "../world/socket.ts";
import { type HolderPlace, readHolderSpec } from "./holder-files.ts";

/** A holder answers within a millisecond; one that was swapped out, on a busy machine, may take its time. */
const CONNECT_MS = 2_000;
/** Who lists terminals waits for the slowest of them. */
const STATUS_MS = 1_000;

export type LinesWorld = HolderPlace & { readonly sockets: Sockets };

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

export class HolderLines {
  readonly #world: LinesWorld;
  readonly #events: LineEvents;
  readonly #ways: LineWays | undefined;
  readonly #lines = new Map<string, HolderClient>();

  constructor(world: LinesWorld, events: LineEvents, ways?: LineWays) {
    this.#world = world;
    this.#events = events;
    this.#ways = ways;
  }

  has(id: string): boolean {
    return this.#lines.get(id)?.connected === true;
  }

  /** A new line instead of the old one; undefined where nobody answers. */
  async connect(id: string): Promise<HolderStatus | undefined> {
    const { disk, home, sockets, clock } = this.#world;
    const ways = this.#ways;
    const spec = ways === undefined ? readHolderSpec(disk, home, id) : ways.spec(id);
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
    else this.#lines.set(id, line);
    if (status !== undefined) ways?.welcomed(id, line, status);
    return status;
  }

  #lineEvents(id: string, line: () => HolderClient) {
    return {
      output: (offset: number, bytes: Uint8Array) => this.#ways?.heard(line(), offset + bytes.length),
      ended: (exit: HolderExit) => this.#events.ended(id, exit),
      lost: () => {
        if (this.#lines.get(id) !== line()) return;
        this.#lines.delete(id);
        this.#events.lost(id);
      },
    };
  }

  /** What the holder says of itself; undefined where it does not answer in time. */
  async status(id: string): Promise<HolderStatus | undefined> {
    const line = this.#lines.get(id);
    const answer = line === undefined ? undefined : await within(this.#world.clock, STATUS_MS, line.askStatus());
    return answer?.ok === true ? answer.value : undefined;
  }

  /** False where there is no line. */
  signal(id: string, name: string): boolean {
    if (!this.has(id)) return false;
    this.#lines.get(id)?.signal(name);
    return true;
  }

  drop(id: string): void {
    this.#lines.get(id)?.close();
    this.#lines.delete(id);
  }

  /** Lets go of every holder; they live on. */
  close(): void {
    for (const id of [...this.#lines.keys()]) this.drop(id);
  }
}

async function welcome(line: HolderClient): Promise<HolderStatus | undefined> {
  try {
    const answer = await line.connect();
    return answer.ok ? answer.value : undefined;
  } catch (error) {
    if (isFault(error)) return undefined; // Nobody listens there.
    throw error;
  }
}

/** What comes in time; undefined where it does not. */
async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const callOff = clock.after(ms, () => late.resolve(undefined));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    callOff();
  }
}
