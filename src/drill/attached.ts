// One client of one terminal, like a person: reads everything, types numbered lines, and reconnects after a lost
// connection.
// A1. A line that the holder confirmed must come back exactly once; one that was refused, at most once.
// A2. Some lines are sent twice, as by a client that lost the reply: the holder drops the second one.
// A3. It talks only to the holder: whether a daemon is running does not matter.
import { isFault } from "../base/fault.ts";
import { type HeldDirectory, readClaim, readSpec, terminalFiles, terminalSocket } from "../home/held/holder-files.ts";
import { HolderClient } from "../wire/holder/client.ts";
import type { HolderWire } from "../wire/holder/framed-connection.ts";
import { type HolderExit, type HolderStatus, INPUT } from "../wire/holder/protocol.ts";
import type { ProcessIdentity } from "../world/process.ts";
import type { Connection, ConnectionEvents } from "../world/socket.ts";
import { Pauses } from "../world/wait.ts";
import { Copy } from "./copy.ts";
import type { Findings } from "./findings.ts";
import type { Site } from "./site.ts";

/** A holder starts within some tens of milliseconds; if many are starting at once it takes longer. */
const ATTACH_LIMITS = { firstMs: 5, mostMs: 50, allMs: 15_000 };
/** More lines are not typed ahead: a program that does not read must not fill our memory. */
const MAX_OPEN = 32;
/** A2: one in this many. */
const EVERY = 7;
/** A frame is its length in four bytes, then its tag (wire/holder/frames.ts). */
const FRAME_TAG = 4;

export class Attached {
  readonly copy: Copy;
  readonly place: HeldDirectory;
  readonly confirmed = new Set<string>();
  readonly refused = new Set<string>();
  readonly #site: Site;
  #client: HolderClient | undefined;
  #typed = 0;
  #open = 0;
  #frames = 0;
  #over = false;
  #connecting = false;
  #exit: HolderExit | undefined;
  #status: HolderStatus | undefined;

  constructor(site: Site, id: string, name: string, findings: Findings) {
    this.#site = site;
    this.place = terminalFiles(site.world.disk, site.home, id);
    this.copy = new Copy(name, findings);
  }

  /** The program, as its holder reported it at our first connection. */
  get child(): ProcessIdentity | undefined {
    const child = this.#status?.child;
    return child == null ? undefined : { ...child, bootId: this.#site.world.processes.bootId() };
  }

  /** As its holder reported it, after the last byte. */
  get exit(): HolderExit | undefined {
    return this.#exit;
  }

  /** Lines that were typed and neither confirmed nor refused yet. */
  get open(): number {
    return this.#open;
  }

  /** Retries until it is connected; returns false if there is no reply for too long, or it is over. */
  async attach(): Promise<boolean> {
    if (this.#connecting) return true;
    this.#connecting = true;
    const pauses = new Pauses(this.#site.world.clock, ATTACH_LIMITS);
    try {
      do {
        if (!this.#over && (await this.#connect())) return true;
      } while (!this.#over && this.#maySoonAnswer() && (await pauses.next()));
      return false;
    } finally {
      this.#connecting = false;
    }
  }

  /** Without a claim its holder is still starting; if the claim's process is gone, no holder will answer. */
  #maySoonAnswer(): boolean {
    const claim = readClaim(this.place);
    return claim === undefined || this.#site.world.processes.alive(claim);
  }

  /** Types the next line; returns false if too many are open. */
  type(words = `i${this.#typed + 1}`): boolean {
    if (this.#client === undefined || this.#over || this.#open >= MAX_OPEN) return false;
    this.#typed += 1;
    this.#open += 1;
    void this.#client.input(Buffer.from(`${words}\n`)).then((answer) => {
      this.#open -= 1;
      (answer.ok ? this.confirmed : this.refused).add(words); // A1
    });
    return true;
  }

  /** Drops the connection abruptly and reconnects. */
  attachAnew(): void {
    if (!this.#over && this.#client?.connected === true) void this.attach();
  }

  leave(): void {
    this.#over = true;
    this.#client?.close();
  }

  async #connect(): Promise<boolean> {
    this.#client ??= this.#newClient();
    try {
      const welcome = await this.#client?.connect();
      if (welcome?.ok !== true) return false;
      this.#status ??= welcome.value;
      return true;
    } catch (error) {
      if (isFault(error)) return false;
      throw error;
    }
  }

  #newClient(): HolderClient | undefined {
    const spec = readSpec(this.place);
    if (spec === undefined) return undefined;
    const dial = async (events: ConnectionEvents) =>
      this.#stuttering(await this.#site.world.sockets.connect(terminalSocket(this.place), events));
    const wish = { token: spec.token, writer: "drill", from: 0 };
    return new HolderClient(dial, wish, {
      output: (offset, bytes) => this.copy.take(offset, bytes),
      resync: (offset) => this.copy.resync(offset),
      ended: (exit) => {
        this.#exit = exit;
        this.leave();
      },
      lost: () => void this.attach(), // A3
    });
  }

  /** A2 */
  #stuttering(wire: Connection): HolderWire {
    const send = (frame: Uint8Array): void => {
      wire.send(frame);
      this.#frames += 1;
      if (frame[FRAME_TAG] === INPUT && this.#frames % EVERY === 0) wire.send(frame);
    };
    return { send, end: () => wire.end(), destroy: () => wire.destroy() };
  }
}
