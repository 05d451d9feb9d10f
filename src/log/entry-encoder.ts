// Turns new entries into the bytes of their lines. Every acknowledged event comes through here, so it makes one string, encodes it
// once, and sums the bytes; the write-ahead log and the session's log then copy these bytes and never look at the text again.
import { assert } from "../base/assert.ts";
import { crc32, putHex8 } from "../world/hash.ts";
import { type EntryHead, type NewEntry, sessionId } from "./entry.ts";

/** Lines share pieces of memory of this size. */
const PIECE = 1 << 16;
/** UTF-8 never needs more than this for one UTF-16 unit. */
const MOST_BYTES_A_UNIT = 3;
/** Holds the place of the sum until the bytes are there to be summed. */
const NO_SUM = ',"sum":"00000000"}';
/** Sessions, events and times come again and again; quoting them anew each time was a tenth of the work. */
const MAX_QUOTED = 1000;

export class EntryEncoder {
  #piece = Buffer.alloc(0);
  #at = 0;
  readonly #quoted = new Map<string, string>();

  /** The line without its newline (E2). Throws where the data is not JSON. */
  encode(entry: NewEntry, head: EntryHead): Uint8Array {
    const id = this.#quote(entry.session, sessionId);
    const event = this.#quote(entry.event, same);
    const ts = this.#quote(entry.ts, same);
    const data: unknown = JSON.stringify(entry.data);
    assert(typeof data === "string", "the data of an entry is JSON");
    const text = `{"seq":${head.seq},"prev":${head.prev},"session_id":${id},"ts":${ts},"event":${event},"data":${data}${NO_SUM}`;
    this.#reserve(text.length * MOST_BYTES_A_UNIT);
    const start = this.#at;
    this.#at += this.#piece.write(text, start, "utf8");
    const body = this.#piece.subarray(start, this.#at - NO_SUM.length);
    putHex8(crc32(body), this.#piece, this.#at - 10);
    return this.#piece.subarray(start, this.#at);
  }

  /** Every line given out so far has been copied: their memory is free again. */
  reuse(): void {
    this.#at = 0;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#piece.length) return;
    this.#piece = Buffer.allocUnsafeSlow(Math.max(PIECE, bytes));
    this.#at = 0;
  }

  #quote(text: string, part: (text: string) => string): string {
    let quoted = this.#quoted.get(text);
    if (quoted === undefined) {
      quoted = JSON.stringify(part(text));
      if (this.#quoted.size >= MAX_QUOTED) this.#quoted.clear();
      this.#quoted.set(text, quoted);
    }
    return quoted;
  }
}

function same(text: string): string {
  return text;
}
