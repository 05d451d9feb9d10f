// Recorder: an output on its tape, synced while it flows, and kept in memory while the disk fails.
// R1. Every byte has its absolute offset, whatever the disk does: `end` counts what was received, not what was written.
// R2. Dirty bytes are synced within a second; an idle recorder has no timer.
// R3. While the tape cannot be written, the newest bytes wait in a ring of bounded size and go to the tape as soon as
//     it works again. What the ring had to drop becomes a gap of the tape, and is counted.
// R4. A tape whose sync failed is not trusted again in this life (tape.ts, T5): output stays in memory, and `trouble`
//     has the reason.
// R5. A power cut may remove the end of a tape that was already seen, in a checkpoint's snapshot or a remote window. No
//     offset is used twice: what is lost stays a gap, and the next byte comes after everything known to have been seen.
// R6. A closed recorder has no file open and no timer: a holder of attempts has many of them in its life.
import { type Fault, isFault } from "../base/fault.ts";
import type { TapeRead } from "../log/tape/segments.ts";
import { Tape, type TapeLimits } from "../log/tape/tape.ts";
import { TimeLog } from "../log/tape/time-log.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { Ring } from "./ring.ts";

/** R2: less than a second, with time for a timer that a flood delays and for the sync itself. */
const SYNC_MS = 700;
/** People clear full disks: trying more often would be wasted work. */
const RETRY_MS = 1000;
/** Enough for a screen and its history; 25 terminals on a full disk still cost less than a browser tab. */
const RING_BYTES = 1 << 20;

type State =
  | { readonly kind: "taping" }
  | { readonly kind: "remembering"; readonly ring: Ring; readonly why: Fault; readonly hope: boolean };

export class Recorder {
  readonly #clock: Clock;
  readonly #tape: Tape;
  readonly #times: TimeLog | undefined;
  #state: State = { kind: "taping" };
  #end: number;
  /** Where the bytes on the tape end; after a gap that is only planned, the tape's own end is further on. */
  #written: number;
  #gaps: number;
  #dirty = false;
  #syncing: Promise<void> | undefined;
  #cancelSync: (() => void) | undefined;
  #closed = false;
  /** Called when `trouble` has changed. */
  onTrouble: () => void = () => undefined;

  /** `startAt`: R5. `isTimed`: when the bytes came is written down too. */
  constructor(
    world: { readonly disk: Disk; readonly clock: Clock },
    directory: string,
    { startAt = 0, isTimed = false, ...limits }: TapeLimits & { readonly startAt?: number; readonly isTimed?: boolean },
  ) {
    this.#clock = world.clock;
    this.#tape = Tape.open(world.disk, directory, limits);
    this.#times = isTimed ? new TimeLog(world.disk, directory, this.#tape.end) : undefined;
    this.#gaps = startAt > this.#tape.end ? 1 : 0;
    this.#tape.skip(Math.max(0, startAt - this.#tape.end)); // R5
    this.#end = this.#tape.end;
    this.#written = this.#end;
  }

  get start(): number {
    return this.#state.kind === "remembering" && this.#tape.start === this.#tape.end
      ? this.#state.ring.start
      : this.#tape.start;
  }

  get end(): number {
    return this.#end;
  }

  get gaps(): number {
    return this.#gaps;
  }

  /** Why the tape cannot be written; null if it can. */
  get trouble(): string | null {
    return this.#state.kind === "remembering" ? `${this.#state.why.message}. ${this.#state.why.hint}` : null;
  }

  /** Returns the offset of the first byte. */
  append(bytes: Uint8Array): number {
    const offset = this.#end;
    this.#end += bytes.length; // R1
    if (this.#closed) return offset; // R6
    if (this.#state.kind === "remembering") this.#state.ring.push(bytes);
    else this.#write(bytes, offset);
    return offset;
  }

  read(offset: number, max: number): TapeRead {
    if (offset >= this.#end) return { kind: "end", end: this.#end };
    const ring = this.#state.kind === "remembering" ? this.#state.ring : undefined;
    if (ring !== undefined && offset >= ring.start) return { kind: "bytes", offset, bytes: ring.read(offset, max) };
    // Not the tape's own end: a gap planned there during an earlier attempt may have grown since.
    if (ring !== undefined && offset >= this.#written) return { kind: "gap", from: offset, to: ring.start };
    try {
      return this.#tape.read(offset, max);
    } catch (error) {
      if (!isFault(error)) throw error;
      return { kind: "dropped", from: offset, to: ring?.start ?? this.#end };
    }
  }

  /** Makes everything durable, as far as possible; otherwise `trouble` has the reason. */
  async finish(): Promise<void> {
    this.#cancel();
    this.#catchUp();
    await this.#syncing;
    if (this.#state.kind === "taping") await this.#sync();
    this.#cancel();
    await this.#times?.sync();
  }

  /** What still comes, from a process that outlives the child, is only counted (R6). */
  close(): void {
    this.#closed = true;
    this.#cancel();
    this.#tape.close(); // R6
    this.#times?.close(); // R6
  }

  #cancel(): void {
    this.#cancelSync?.();
    this.#cancelSync = undefined;
  }

  #write(bytes: Uint8Array, offset: number): void {
    try {
      this.#put(bytes);
      this.#later(SYNC_MS); // R2
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#remember(error, offset, true).push(bytes); // R3
    }
  }

  #remember(why: Fault, from: number, hope: boolean): Ring {
    const ring = new Ring(from, RING_BYTES);
    this.#state = { kind: "remembering", ring, why, hope };
    this.onTrouble();
    if (hope) this.#later(RETRY_MS);
    return ring;
  }

  /** One timer for both: to sync, and to retry a failing tape. */
  #later(ms: number): void {
    if (this.#cancelSync !== undefined || this.#syncing !== undefined) return;
    this.#cancelSync = this.#clock.after(ms, () => {
      this.#cancelSync = undefined;
      this.#catchUp();
      void this.#sync();
    });
  }

  /** R3 */
  #catchUp(): void {
    if (this.#state.kind !== "remembering" || !this.#state.hope) return;
    const { ring, why } = this.#state;
    try {
      while (ring.start < ring.end) this.#copy(ring);
      this.#state = { kind: "taping" };
      this.onTrouble();
    } catch (error) {
      if (!isFault(error)) throw error;
      // R4: a broken tape always throws the same Fault.
      this.#state = { kind: "remembering", ring, why: error, hope: error !== why };
      if (error !== why) this.#later(RETRY_MS);
    }
  }

  #copy(ring: Ring): void {
    const isGap = ring.start > this.#written;
    this.#tape.skip(ring.start - this.#tape.end);
    const bytes = ring.read(ring.start, RING_BYTES);
    this.#put(bytes);
    if (isGap) this.#gaps += 1;
    ring.dropTo(ring.start + bytes.length);
  }

  #put(bytes: Uint8Array): void {
    const offset = this.#tape.append(bytes);
    this.#written = this.#tape.end;
    this.#dirty = true;
    this.#times?.note({ offset, time: this.#clock.now() }, this.#tape.lastSegment, this.#tape.start);
  }

  async #sync(): Promise<void> {
    if (!this.#dirty) return;
    this.#dirty = false;
    this.#syncing = this.#tape.sync().catch((error: unknown) => this.#syncFailed(error));
    await this.#syncing;
    this.#syncing = undefined;
    if (this.#dirty) this.#later(SYNC_MS);
    if (this.#state.kind === "remembering" && this.#state.hope) this.#later(RETRY_MS);
  }

  #syncFailed(error: unknown): void {
    if (!isFault(error)) throw error;
    if (isFault(error, "EMFILE", "ENFILE"))
      this.#dirty = true; // The sync did not run, so it may be retried.
    else if (this.#state.kind === "taping") this.#remember(error, this.#end, false); // R4
  }
}
