// Output: what the child prints, on its way to the tape and to the followers; on pipes also its input and its stderr.
// P1. First the tape, then the followers: no one sees a byte that the tape will not have, unless the disk fails.
// P2. On pipes, reading pauses if the daemon is too far behind (pressure.ts). A terminal is always read: a screen must
//     not freeze.
import { joinPath } from "../base/path.ts";
import type { TapeLimits } from "../log/tape/tape.ts";
import * as protocol from "../wire/holder/protocol.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { Batch, FRAME_BYTES } from "./batch.ts";
import { Pressure } from "./pressure.ts";
import { Recorder } from "./recorder.ts";

/** stderr is for people who look for a reason; the newest part is enough. */
const STDERR_LIMITS = { segmentBytes: 256 << 10, maxBytes: 1 << 20 };

/** New output, as the parts of its frames; `end` is the offset after it. */
export type Offer = (parts: readonly Uint8Array[], end: number) => void;

type World = { readonly disk: Disk; readonly clock: Clock };

export class Output {
  readonly tape: Recorder;
  readonly pressure: Pressure;
  readonly #clock: Clock;
  readonly #offer: Offer;
  readonly #batch: Batch;
  readonly #inputs: Recorder | undefined;
  readonly #errors: Recorder | undefined;
  #lastAt: number | undefined;

  constructor(
    world: World,
    directory: string,
    spec: Pick<protocol.HolderSpec, "mode" | "tape" | "startAt">,
    offer: Offer,
  ) {
    const record = (name: string, limits: TapeLimits) => new Recorder(world, joinPath(directory, name), limits);
    this.#clock = world.clock;
    this.#offer = offer;
    this.tape = new Recorder(world, joinPath(directory, "tape"), {
      ...spec.tape,
      startAt: spec.startAt ?? 0,
      isTimed: spec.mode === "pty",
    });
    this.#inputs = spec.mode === "pipe" ? record("input-tape", spec.tape) : undefined;
    this.#errors = spec.mode === "pipe" ? record("stderr-tape", STDERR_LIMITS) : undefined;
    this.pressure = new Pressure(spec.mode === "pipe" ? spec.tape.maxBytes : Number.POSITIVE_INFINITY);
    const publish = {
      gathered: (frame: Buffer) => this.#gathered(frame),
      large: (bytes: Uint8Array) => this.#large(bytes),
    };
    this.#batch = new Batch(world.clock, publish);
  }

  /** Called when a tape can no longer be written, or can again. */
  set onTrouble(changed: () => void) {
    for (const tape of [this.tape, this.#inputs, this.#errors]) if (tape !== undefined) tape.onTrouble = changed;
  }

  /** Whether anything is on the disk. */
  get hasTapes(): boolean {
    return [this.tape, this.#inputs, this.#errors].some((tape) => tape !== undefined && tape.end > 0);
  }

  get lastAt(): string | null {
    return this.#lastAt === undefined ? null : new Date(this.#lastAt).toISOString();
  }

  /** Why one of the tapes cannot be written; null if all can. */
  get trouble(): string | null {
    return this.tape.trouble ?? this.#inputs?.trouble ?? this.#errors?.trouble ?? null;
  }

  /** Returns a promise if the reading must pause (P2). */
  said(bytes: Uint8Array): undefined | Promise<void> {
    this.#batch.add(bytes);
    return this.#inputs === undefined ? undefined : this.pressure.produced(this.tape.end + this.#batch.length);
  }

  complained(bytes: Uint8Array): void {
    this.#errors?.append(bytes);
  }

  /** Input for the child. A terminal echoes or hides it itself: no password ends up on a tape. */
  typed(bytes: Uint8Array): void {
    this.#inputs?.append(bytes);
  }

  /** Writes all output so far to the tape and offers it to the followers. */
  flush(): void {
    this.#batch.flush();
  }

  /** Makes everything durable, as far as the disk permits. */
  async finish(): Promise<void> {
    this.flush();
    await Promise.all([this.tape.finish(), this.#inputs?.finish(), this.#errors?.finish()]);
  }

  /** After the end: nothing is kept open. */
  close(): void {
    for (const recorder of [this.tape, this.#inputs, this.#errors]) recorder?.close();
  }

  #gathered(frame: Buffer): void {
    const offset = this.#record(frame.subarray(protocol.OUTPUT_HEAD));
    protocol.headOutput(frame, offset);
    this.#offer([frame], this.tape.end);
  }

  /** Not copied into frames: a head and a part of the bytes at a time. */
  #large(bytes: Uint8Array): void {
    const offset = this.#record(bytes);
    const parts: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += FRAME_BYTES) {
      const part = bytes.subarray(at, at + FRAME_BYTES);
      parts.push(protocol.outputHead(offset + at, part.length), part);
    }
    this.#offer(parts, this.tape.end);
  }

  #record(bytes: Uint8Array): number {
    this.#lastAt = this.#clock.now();
    return this.tape.append(bytes); // P1
  }
}
