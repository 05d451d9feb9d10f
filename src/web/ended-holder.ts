// Stands in for the holder of a program that has ended: the page gets the rest of the tape, and how it ended, by the
// same protocol, so that it need not know the difference.
// EH1. Every byte of the tape from the wanted offset on comes before ENDED.
// EH2. No more is read than the page takes.
import { type HeldDirectory, readSpec } from "../home/held/holder-files.ts";
import { type TapePart, tapeOf, tapeParts } from "../home/held/tape-parts.ts";
import { readSizes, sizeAt } from "../log/tape/sizes.ts";
import { FrameReader, type RawFrame } from "../wire/holder/frames.ts";
import { parseHello } from "../wire/holder/json.ts";
import * as protocol from "../wire/holder/protocol.ts";
import type { Connection, ConnectionEvents } from "../world/socket.ts";

/** Of one OUTPUT frame, as holders send them. */
const FRAME_BYTES = 64 << 10;
const NO_SIZE = { cols: 80, rows: 24 };

/** What a stream needs of a connection to a holder. */
export type HolderSide = Pick<Connection, "send" | "waiting" | "pause" | "resume" | "destroy">;

export class EndedHolder implements HolderSide {
  readonly #place: HeldDirectory;
  readonly #exit: protocol.HolderExit;
  readonly #events: ConnectionEvents;
  readonly #reader = new FrameReader();
  readonly waiting = 0;
  #frames: Iterator<Uint8Array> | undefined;
  #paused = false;
  #closed = false;

  constructor(place: HeldDirectory, exit: protocol.HolderExit, events: ConnectionEvents) {
    this.#place = place;
    this.#exit = exit;
    this.#events = events;
  }

  send(bytes: Uint8Array): void {
    for (const frame of this.#reader.push(bytes) ?? []) this.#take(frame);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#pump();
  }

  destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#events.closed();
  }

  #take({ tag, payload }: RawFrame): void {
    if (tag === protocol.INPUT) this.#refuse(protocol.readInput(payload)?.number);
    if (tag === protocol.STATUS) this.#events.bytes(protocol.jsonFrame(protocol.STATUS_IS, this.#status()));
    const hello = tag === protocol.HELLO ? parseHello(payload) : undefined;
    if (hello === undefined) return;
    this.#frames = this.#story(hello.from);
    this.#pump();
  }

  /** EH2 */
  #pump(): void {
    while (!this.#paused && !this.#closed && this.#frames !== undefined) {
      const next = this.#frames.next();
      if (next.done === true) this.destroy();
      else this.#events.bytes(next.value);
    }
  }

  /** EH1 */
  *#story(from: number | undefined): Generator<Uint8Array> {
    const status = this.#status();
    yield protocol.jsonFrame(protocol.WELCOME, status);
    yield protocol.jsonFrame(protocol.SIZE_IS, { offset: status.tape.start, ...status.size });
    const isWanted = from !== undefined && from >= 0;
    for (const part of isWanted ? tapeParts(this.#place, from) : []) yield* framesOf(part);
    yield protocol.jsonFrame(protocol.ENDED, this.#exit);
  }

  #refuse(number: number | undefined): void {
    const refusal = { code: "not-running", message: "The program has ended.", hint: "It cannot be typed into." };
    const about = number === undefined ? {} : { number };
    this.#events.bytes(protocol.jsonFrame(protocol.REFUSED, { ...refusal, ...about }));
  }

  #status(): protocol.HolderStatus {
    const { start, end } = tapeOf(this.#place);
    const last = sizeAt(readSizes(this.#place.disk, this.#place.directory), end, undefined);
    const { cols, rows } = last ?? readSpec(this.#place)?.size ?? NO_SIZE;
    const { generation, at } = this.#exit;
    return {
      ...{ v: protocol.PROTOCOL, generation, mode: "pty", pid: 0, child: null, startedAt: at },
      ...{ tape: { start, end, gaps: 0 }, consumed: 0, size: { cols, rows }, clients: 0, lastOutputAt: null },
      ...{ writers: {}, exit: this.#exit, trouble: null },
    };
  }
}

function* framesOf(part: TapePart): Generator<Uint8Array> {
  if (part.kind !== "bytes") return yield protocol.numberFrame(protocol.RESYNC, part.to);
  for (let at = 0; at < part.bytes.length; at += FRAME_BYTES)
    yield protocol.outputFrame(part.offset + at, part.bytes.subarray(at, at + FRAME_BYTES));
}
