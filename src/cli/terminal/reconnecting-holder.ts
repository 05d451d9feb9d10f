// A connection to a terminal's holder that survives lost connections: it reconnects for as long as the holder lives.
// HL1. How a terminal ended is what its holder reports or left in `exit.json`; a lost connection alone is not an end.
// HL2. Output is delivered after `joined`, even if both arrive together: the caller is never given output before
//      `joined`.
// HL3. A holder that is gone without an exit may be followed by the next generation's, on the same tape: the connection
//      continues with that. If none appears soon, the terminal is reported as gone.
// HL4. A reader gets every byte before the end: from the holder, or if that is already gone, from its tape.
import { isFault } from "../../base/fault.ts";
import type { Refusal, Result } from "../../base/result.ts";
import { type HeldDirectory, readClaim, readExit, readSpec, terminalSocket } from "../../home/held/holder-files.ts";
import { tapeParts } from "../../home/held/tape-parts.ts";
import { HolderClient, type HolderEvents, type HolderWish, GONE as LOST } from "../../wire/holder/client.ts";
import type { HolderExit, HolderSize, HolderStatus } from "../../wire/holder/protocol.ts";
import type { Connection } from "../../world/socket.ts";
import { pause, within } from "../../world/wait.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

/** A holder answers at once, or is busy for a moment. */
const STATUS_MS = 1_000;
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 500;
/** For a holder that is still being started: the daemon gives it ten seconds. */
const START_MS = 12_000;
/** HL3. A running daemon restarts it within a second; starting the daemon first takes little longer. */
const RESTORE_MS = 5_000;

export type LineEnd =
  | { readonly kind: "ended"; readonly exit: HolderExit }
  | { readonly kind: "gone"; readonly refusal: Refusal };

export type LineEvents = Pick<HolderEvents, "output" | "resync" | "answers" | "size"> & {
  /** Connected, for the first time or again. */
  joined?(status: HolderStatus): void;
};

type Doors = Pick<DaemonCommandWorld, "clock" | "processes" | "sockets">;

export class ReconnectingHolder {
  readonly #reach: Doors;
  readonly #place: HeldDirectory;
  readonly #events: LineEvents;
  readonly #wish: Omit<HolderWish, "token">;
  readonly #end = Promise.withResolvers<LineEnd>();
  #connection: Connection | undefined;
  #client: HolderClient | undefined;
  #size: HolderSize | undefined;
  #over = false;
  /** What arrived before `joined` was called. */
  #early: (() => void)[] | undefined = [];

  constructor(reach: Doors, place: HeldDirectory, wish: Omit<HolderWish, "token">, events: LineEvents = {}) {
    this.#reach = reach;
    this.#place = place;
    this.#wish = wish;
    this.#size = wish.size;
    this.#events = events;
    const close = () => this.close();
    void this.#end.promise.then(close, close);
  }

  /** Connects, and continues until the end. */
  open(): void {
    this.#again().catch((error: unknown) => this.#end.reject(error));
  }

  /** Rejects only because of a bug. */
  get ended(): Promise<LineEnd> {
    return this.#end.promise;
  }

  async input(bytes: Uint8Array): Promise<Result<void>> {
    return this.#client === undefined ? { ok: false, error: NOT_THERE } : this.#client.input(bytes);
  }

  resize(size: HolderSize): void {
    this.#size = size;
    this.#client?.resize(size);
  }

  /** Pauses while the receiver of the output is busy. */
  hold(): void {
    this.#connection?.pause();
  }

  release(): void {
    this.#connection?.resume();
  }

  close(): void {
    this.#over = true;
    this.#client?.close();
  }

  /** Retries until it is connected, or there is nothing left to connect to. */
  async #again(): Promise<void> {
    const { clock } = this.#reach;
    const began = clock.elapsed();
    for (let ms = FIRST_PAUSE_MS; !this.#over; ms = Math.min(2 * ms, MAX_PAUSE_MS)) {
      if (await this.#connect()) return;
      const end = this.#whatIsLeft(clock.elapsed() - began);
      if (end !== undefined) return this.#leftBy(end);
      await pause(clock, ms);
    }
  }

  async #connect(): Promise<boolean> {
    const client = this.#client ?? this.#newClient();
    if (client === undefined) return false;
    this.#client = client;
    try {
      const welcome = await client.connect();
      if (welcome.ok) this.#joined(welcome.value);
      else if (welcome.error.code !== LOST.code) this.#end.resolve({ kind: "gone", refusal: welcome.error });
      return welcome.ok || this.#over;
    } catch (error) {
      if (isFault(error)) return false; // Nothing is listening; the files on disk say why.
      throw error;
    }
  }

  #joined(status: HolderStatus): void {
    if (this.#size !== undefined) this.#client?.resize(this.#size); // It may have changed while we were away.
    this.#events.joined?.(status);
    for (const tell of this.#early ?? []) tell();
    this.#early = undefined; // An exit in the status is sent again after the last byte (HL4).
  }

  #newClient(): HolderClient | undefined {
    const spec = readSpec(this.#place);
    if (spec === undefined) return undefined;
    return new HolderClient(
      async (events) => {
        this.#connection = await this.#reach.sockets.connect(terminalSocket(this.#place), events);
        return this.#connection;
      },
      { ...this.#wish, token: spec.token },
      {
        output: (offset, bytes) => this.#tell(new Uint8Array(bytes), (copy) => this.#events.output?.(offset, copy)),
        resync: (offset) => this.#tell(offset, (at) => this.#events.resync?.(at)),
        answers: (answers) => this.#tell(answers, (now) => this.#events.answers?.(now)),
        size: (at) => this.#tell(at, (now) => this.#events.size?.(now)),
        ended: (exit) => this.#end.resolve({ kind: "ended", exit }), // HL1
        lost: () => this.open(),
      },
    );
  }

  /** HL2 */
  #tell<T>(what: T, tell: (what: T) => void): void {
    if (this.#early === undefined) tell(what);
    else this.#early.push(() => tell(what));
  }

  /** HL4: it ended before we connected, or between two connections. */
  #leftBy(end: LineEnd): void {
    const from = this.#client?.offset ?? this.#wish.from;
    for (const part of from === undefined || from < 0 ? [] : tapeParts(this.#place, from)) {
      if (part.kind === "bytes") this.#events.output?.(part.offset, part.bytes);
      else this.#events.resync?.(part.to);
    }
    this.#end.resolve(end);
  }

  /** HL1, HL3. Returns undefined while it may still answer. */
  #whatIsLeft(waitedMs: number): LineEnd | undefined {
    const exit = readExit(this.#place);
    if (exit !== undefined) return { kind: "ended", exit };
    const claim = readClaim(this.#place);
    if (claim === undefined) return waitedMs < START_MS ? undefined : { kind: "gone", refusal: NOT_THERE };
    const mayCome = this.#reach.processes.alive(claim) || waitedMs < RESTORE_MS;
    return mayCome ? undefined : { kind: "gone", refusal: GONE };
  }
}

/** Returns a holder's status; undefined if there is no reply soon. */
export async function askHolder(world: DaemonCommandWorld, place: HeldDirectory): Promise<HolderStatus | undefined> {
  const spec = readSpec(place);
  if (spec === undefined) return undefined;
  const writer = `look-${world.processes.pid}`;
  const client = new HolderClient((events) => world.sockets.connect(terminalSocket(place), events), {
    token: spec.token,
    writer,
  });
  try {
    const welcome = await within(world.clock, STATUS_MS, client.connect());
    return welcome?.ok === true ? welcome.value : undefined;
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  } finally {
    client.close();
  }
}

const NOT_THERE: Refusal = {
  code: "not-running",
  message: "The terminal has no holder that answers.",
  hint: "`holdfast ls` shows its state, and `holdfast logs` what happened.",
};

const GONE: Refusal = {
  code: "holder-gone",
  message: "The terminal's process was lost; exit status unknown.",
  hint: "`holdfast history` shows its output, and `holdfast recovery report` what happened to it.",
};
