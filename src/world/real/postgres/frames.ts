// Frames of the protocol of PostgreSQL, version 3: a type, a length that counts itself, and the body.
// FR1. A length is checked before its body is waited for: nothing is kept that is longer than the limit.
import { ByteQueue } from "../../../base/byte-queue.ts";

/** The server does not keep to the protocol. Only this connection ends. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

export type Frame = { readonly type: string; readonly body: Uint8Array };

const HEAD = 5;

export class FrameReader {
  readonly #queue = new ByteQueue();
  /** Small until the server has proved who it is. */
  maxBytes: number;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Returns the frames that are whole. Throws a ProtocolError. */
  push(bytes: Uint8Array): Frame[] {
    this.#queue.push(bytes);
    const frames: Frame[] = [];
    for (;;) {
      const view = this.#queue.view();
      if (view.length < HEAD) return frames;
      const length = new DataView(view.buffer, view.byteOffset).getInt32(1);
      if (length < 4 || length > this.maxBytes) throw new ProtocolError(`a message of ${length} bytes`); // FR1
      if (view.length < 1 + length) return frames;
      frames.push({ type: String.fromCharCode(view[0] ?? 0), body: view.subarray(HEAD, 1 + length) });
      this.#queue.drop(1 + length);
    }
  }
}

const UTF8 = new TextDecoder();

/** Reads the fields of a body; one that is too short is a ProtocolError. */
export class Fields {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(count: number): Uint8Array {
    const end = this.#at + count;
    if (count < 0 || end > this.#bytes.length) throw new ProtocolError("a message that is too short");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  int16(): number {
    const [a = 0, b = 0] = this.take(2);
    return (a << 8) | b;
  }

  int32(): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.take(4);
    return (a << 24) | (b << 16) | (c << 8) | d;
  }

  /** Up to the next NUL. */
  text(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end < 0) throw new ProtocolError("a text without an end");
    const text = UTF8.decode(this.#bytes.subarray(this.#at, end));
    this.#at = end + 1;
    return text;
  }

  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at);
  }
}

export function textOf(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

type Piece = string | number | Uint8Array;

/** A frame to send; without a type at the start of a connection. A string ends with NUL, a number is an int32. */
export function frame(type: string, ...pieces: readonly Piece[]): Uint8Array {
  const parts = pieces.map(bytesOf);
  const length = 4 + parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from(type, "latin1"), int32(length), ...parts]);
}

function bytesOf(piece: Piece): Uint8Array {
  if (typeof piece === "string") return Buffer.from(`${piece}\0`);
  return typeof piece === "number" ? int32(piece) : piece;
}

function int32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function int16(value: number): Uint8Array {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
