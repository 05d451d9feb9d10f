// The daemon's connections to the holders of one kind of program: opened when there is something to send, and closed
// when they were idle for a while.
// L1. Every wait has a limit: a stopped holder must delay neither a recovery nor a list.
// L2. A connection that is given up is cut: if it came up later, it would act for us, and displace the next one.
// L3. A holder whose connection was closed as idle was healthy when it last answered, and is trusted as long as its pid
//     is in use; any other holder without a connection is unknown. A connected socket wakes both processes about once a
//     second (docs/BENCHMARKS.md), so idle connections are not kept. A holder that an earlier daemon left in good
//     health is trusted in the same way (HE8 of held-programs.ts).
import { isFault } from "../../base/fault.ts";
import type { Result } from "../../base/result.ts";
import { HolderClient } from "../../wire/holder/client.ts";
import type { HolderDial } from "../../wire/holder/framed-connection.ts";
import type { HolderSpec, HolderStatus } from "../../wire/holder/protocol.ts";
import type { Clock } from "../../world/clock.ts";
import type { Processes } from "../../world/process.ts";
import type { Connection, Sockets } from "../../world/socket.ts";
import { within } from "../../world/wait.ts";

/** A holder answers within a millisecond, and later if it was swapped out on a busy machine. */
const CONNECT_MS = 2_000;
/** A recovery, and a list for an older client, wait for the slowest holder. */
const STATUS_MS = 1_000;

type World = { readonly sockets: Sockets; readonly clock: Clock; readonly processes: Processes };

/** A connection to one holder: its client, and what uses it. */
export type HolderConnection = {
  readonly client: HolderClient;
  /** Called when the holder has answered and its program runs. */
  welcomed(status: HolderStatus): void;
  close(): void;
};

/**
 * What a connection is made of. `ended`: its program ended. `lost`: the connection is gone, and we did not close it.
 */
export type HolderPeer = {
  readonly spec: HolderSpec;
  readonly dial: HolderDial;
  readonly events: { ended(): void; lost(): void };
};

export type ConnectionPorts<C extends HolderConnection> = {
  /** Undefined if there is none. */
  spec(name: string): HolderSpec | undefined;
  open(name: string, peer: HolderPeer): C | undefined;
  ended(name: string): void;
  lost(name: string): void;
};

/** `rounds`: since it was last used. */
type Kept<C> = { readonly connection: C; rounds: number };

export class HolderConnections<C extends HolderConnection> {
  readonly #world: World;
  readonly #ports: ConnectionPorts<C>;
  readonly #kept = new Map<string, Kept<C>>();
  /** The holders whose idle connections were closed, or that were never asked, with their pids (L3). */
  readonly #resting = new Map<string, number>();
  readonly #connecting = new Map<string, Promise<HolderStatus | undefined>>();
  /** What each has answered last. */
  readonly #seen = new Map<string, HolderStatus>();
  #closed = false;

  constructor(world: World, ports: ConnectionPorts<C>) {
    this.#world = world;
    this.#ports = ports;
  }

  /** The connection to a holder whose program runs. */
  get(name: string): C | undefined {
    const connection = this.#connected(name);
    return connection?.client.status?.child == null ? undefined : connection;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** What the holder has answered last; undefined if it is unknown. It is not asked. */
  seen(name: string): HolderStatus | undefined {
    return this.#seen.get(name);
  }

  /** L3 */
  rests(name: string): boolean {
    const pid = this.#resting.get(name);
    return pid !== undefined && this.#world.processes.isTaken(pid);
  }

  /** L3. It is connected to when it is needed. */
  trust(name: string, pid: number): void {
    this.drop(name);
    this.#resting.set(name, pid);
  }

  /** Replaces the connection; undefined if there is no answer. Concurrent callers share it. */
  connect(name: string): Promise<HolderStatus | undefined> {
    const made = this.#connecting.get(name) ?? this.#connect(name).finally(() => this.#connecting.delete(name));
    this.#connecting.set(name, made);
    return made;
  }

  async #connect(name: string): Promise<HolderStatus | undefined> {
    const spec = this.#closed ? undefined : this.#ports.spec(name);
    if (spec === undefined) return undefined;
    this.drop(name);
    const { dial, cut } = cuttable(this.#world.sockets, spec.socket);
    const events = { ended: () => this.#ports.ended(name), lost: () => this.#lost(name, connection) };
    const connection = this.#ports.open(name, { spec, dial, events });
    if (connection === undefined) return undefined;
    const status = await within(this.#world.clock, CONNECT_MS, welcome(connection.client)); // L1
    if (status === undefined || this.#closed) {
      connection.close();
      cut(); // L2
      return undefined;
    }
    this.#kept.set(name, { connection, rounds: 0 });
    this.#seen.set(name, status);
    if (status.child !== null) connection.welcomed(status);
    return status;
  }

  #lost(name: string, connection: C | undefined): void {
    const known = this.#kept.get(name)?.connection;
    if (known !== undefined && known !== connection) return;
    this.#kept.delete(name);
    this.#ports.lost(name);
  }

  /** The holder's status; undefined if it does not answer in time, or is unknown. */
  async status(name: string): Promise<HolderStatus | undefined> {
    this.#use(name);
    return this.#ask(name);
  }

  /** The same, but it does not count as a use: an idle connection is closed again. */
  async glance(name: string): Promise<HolderStatus | undefined> {
    const rested = this.#resting.has(name);
    const status = await this.#ask(name);
    if (rested) this.#letGo(name);
    return status;
  }

  async #ask(name: string): Promise<HolderStatus | undefined> {
    const { clock } = this.#world;
    const client = this.#kept.get(name)?.connection.client;
    if (client !== undefined) {
      const status = await within(clock, STATUS_MS, answered(client.askStatus()));
      if (status !== undefined && this.#kept.has(name)) this.#seen.set(name, status);
      return status;
    }
    return this.#answers(name) ? within(clock, STATUS_MS, this.connect(name)) : undefined;
  }

  /** Whether a connection can be expected although there is none: it was closed as idle, or is being made. */
  #answers(name: string): boolean {
    return this.#resting.has(name) || this.#connecting.has(name);
  }

  /** Connects to a holder whose idle connection was closed. Returns false if no connection can be made. */
  async reach(name: string): Promise<boolean> {
    if (!this.has(name) && this.#answers(name)) await this.connect(name);
    return this.#connected(name) !== undefined;
  }

  /** Returns false if there is no connection. A holder that cannot start its program yet is sent it too. */
  signal(name: string, signal: string): boolean {
    this.#use(name);
    const connection = this.#connected(name);
    connection?.client.signal(signal);
    return connection !== undefined;
  }

  #connected(name: string): C | undefined {
    const connection = this.#kept.get(name)?.connection;
    return connection?.client.connected === true ? connection : undefined;
  }

  #use(name: string): void {
    const kept = this.#kept.get(name);
    if (kept !== undefined) kept.rounds = 0;
  }

  /** Called on every round: closes each connection that was not used for this many rounds (L3). */
  rest(rounds: number): void {
    for (const [name, kept] of [...this.#kept]) {
      kept.rounds += 1;
      if (kept.rounds > rounds) this.#letGo(name);
    }
  }

  #letGo(name: string): void {
    const pid = this.get(name)?.client.status?.pid;
    const seen = this.#seen.get(name);
    if (pid === undefined) return;
    this.trust(name, pid);
    if (seen !== undefined) this.#seen.set(name, seen);
  }

  drop(name: string): void {
    this.#kept.get(name)?.connection.close();
    this.#kept.delete(name);
    this.#resting.delete(name);
    this.#seen.delete(name);
  }

  /** The holders keep running. */
  close(): void {
    this.#closed = true;
    for (const name of [...this.#kept.keys()]) this.drop(name);
  }
}

/** A connection that can be cut at any time, even before it is established (L2). */
function cuttable(sockets: Sockets, path: string): { readonly dial: HolderDial; cut(): void } {
  let wire: Connection | undefined;
  let isCut = false;
  const dial: HolderDial = async (events) => {
    wire = await sockets.connect(path, events);
    if (isCut) wire.destroy();
    return wire;
  };
  const cut = () => {
    isCut = true;
    wire?.destroy();
  };
  return { dial, cut };
}

/** A connection that only sends queries and signals. */
export function plainConnection({ spec, dial, events }: HolderPeer): HolderConnection {
  const client = new HolderClient(dial, { token: spec.token, writer: "daemon" }, events);
  return { client, welcomed: () => undefined, close: () => client.close() };
}

async function answered(asked: Promise<Result<HolderStatus>>): Promise<HolderStatus | undefined> {
  const answer = await asked;
  return answer.ok ? answer.value : undefined;
}

/** Returns undefined if there is no answer. */
export async function welcome(client: HolderClient): Promise<HolderStatus | undefined> {
  try {
    return await answered(client.connect());
  } catch (error) {
    if (isFault(error)) return undefined; // Nothing listens there.
    throw error;
  }
}
