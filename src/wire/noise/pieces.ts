// Messages of any length as pieces that fit into one Noise message each, and back.
// PI1. A piece is one byte that says what it is, and then bytes. The pieces of a message follow each other.
// PI2. A message is whole, or it is not delivered; it is never longer than the reader's limit.
// PI3. The last piece of a session says why it ends. Without it, somebody has cut the connection.
// PI4. A ping is answered by a pong, between messages or within one.
import { ByteQueue } from "../../base/byte-queue.ts";
import { type Bytes, joined, TAG_BYTES } from "./crypto.ts";

/** Of one Noise message, by the specification. */
export const MAX_NOISE = 65_535;
const MAX_PIECE = MAX_NOISE - TAG_BYTES - 1;

const [TEXT_PART, TEXT, BINARY_PART, BINARY, END] = [0, 1, 2, 3, 4];
/** PI4 */
export const [PING, PONG] = [Uint8Array.of(5), Uint8Array.of(6)];
const UTF8 = new TextEncoder();

/** `code`: as of a WebSocket (`CLOSE` in wire/page/messages.ts). */
export type ChannelClose = { readonly code: number; readonly reason: string };
export type Whole =
  | { readonly kind: "message"; readonly message: string | Bytes }
  | { readonly kind: "end"; readonly end: ChannelClose }
  | { readonly kind: "part" | "ping" | "pong" };

/** PI1 */
export function* piecesOf(message: string | Uint8Array): Generator<Bytes> {
  const [part, last] = typeof message === "string" ? [TEXT_PART, TEXT] : [BINARY_PART, BINARY];
  const bytes = typeof message === "string" ? UTF8.encode(message) : message;
  let at = 0;
  for (; bytes.length - at > MAX_PIECE; at += MAX_PIECE)
    yield joined(Uint8Array.of(part), bytes.subarray(at, at + MAX_PIECE));
  yield joined(Uint8Array.of(last), bytes.subarray(at));
}

/** PI3 */
export function endPiece({ code, reason }: ChannelClose): Bytes {
  return joined(Uint8Array.of(END, code >> 8, code), UTF8.encode(reason).subarray(0, MAX_PIECE - 2));
}

export class PieceReader {
  readonly #most: number;
  readonly #parts = new ByteQueue();
  /** The kind of the message whose first parts have come. */
  #within: number | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  /** Undefined if it is not in the protocol, or over the limit (PI2). */
  push(piece: Bytes): Whole | undefined {
    const kind = piece[0];
    const body = piece.subarray(1);
    if (kind === undefined) return undefined;
    if (kind <= BINARY) return this.#part(kind, body);
    if (kind === END) return this.#end(body);
    if (body.length > 0) return undefined;
    if (kind === PING[0]) return { kind: "ping" };
    return kind === PONG[0] ? { kind: "pong" } : undefined;
  }

  #part(kind: number, body: Bytes): Whole | undefined {
    const last = kind <= TEXT ? TEXT : BINARY;
    const isLast = kind === last;
    if (this.#within !== undefined && this.#within !== last) return undefined;
    if (this.#parts.length + body.length > this.#most || (!isLast && body.length === 0)) return undefined;
    this.#within = isLast ? undefined : last;
    return isLast ? this.#whole(body, last === TEXT) : this.#keep(body);
  }

  #keep(body: Bytes): Whole {
    this.#parts.push(body);
    return { kind: "part" };
  }

  #whole(body: Bytes, isText: boolean): Whole | undefined {
    if (this.#parts.length > 0) this.#parts.push(body);
    const bytes = this.#parts.length > 0 ? this.#parts.view().slice() : body;
    this.#parts.drop(this.#parts.length);
    const message = isText ? textOf(bytes) : bytes;
    return message === undefined ? undefined : { kind: "message", message };
  }

  #end(body: Bytes): Whole | undefined {
    if (this.#within !== undefined || body.length < 2) return undefined;
    const reason = textOf(body.subarray(2));
    const code = new DataView(body.buffer, body.byteOffset).getUint16(0);
    return reason === undefined ? undefined : { kind: "end", end: { code, reason } };
  }
}

/** Undefined if it is not UTF-8. */
function textOf(bytes: Bytes): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
