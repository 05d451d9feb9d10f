// Turns new entries into the bytes of their lines. Every acknowledged event comes through here, so it makes one string, encodes it
// once, and sums the bytes; the write-ahead log and the session's log then copy these bytes and never look at the text again.
import { assert } from "../../base/assert.ts";
import { crc32, putHex8 } from "../../world/hash.ts";
import { type EntryHead, type NewEntry, sessionId } from "./entry.ts";

/** Lines share pieces of memory of this size. */
const PIECE = 1 << 16;
/** UTF-8 never needs more than this for one UTF-16 unit. */
const MAX_BYTES_A_UNIT = 3;
/** Holds the place of the sum until the bytes are there to be summed. */
const NO_SUM = ',"sum":"00000000"}';
/** Names of events are few; quoting them anew each time was a twentieth of the work. */
const MAX_QUOTED = 1000;

export class EntryEncoder {
  #piece = Buffer.alloc(0);
  /** The same memory: views of it cost half of what a Buffer's do. */
  #bytes = new Uint8Array(0);
  #at = 0;
  readonly #events = new Map<string, string>();
  #ts = "";
  #quotedTs = '""';

  /** The line without its newline (E2). Throws where the data is not JSON. */
  encode(entry: NewEntry, head: EntryHead, id = JSON.stringify(sessionId(entry.session))): Uint8Array {
    const data: unknown = JSON.stringify(entry.data);
    assert(typeof data === "string", "the data of an entry is JSON");
    if (entry.ts !== this.#ts) this.#remember(entry.ts);
    const event = this.#events.get(entry.event) ?? this.#quote(entry.event);
    const text = `{"seq":${head.seq},"prev":${head.prev},"session_id":${id},"ts":${this.#quotedTs},"event":${event},"data":${data}${NO_SUM}`;
    this.#reserve(text.length * MAX_BYTES_A_UNIT);
    const start = this.#at;
    const end = start + this.#piece.write(text, start, "utf8");
    putHex8(crc32(this.#bytes.subarray(start, end - NO_SUM.length)), this.#bytes, end - 10);
    this.#at = end;
    return this.#bytes.subarray(start, end);
  }

  /** Every line given out so far has been copied: their memory is free again. */
  reuse(): void {
    this.#at = 0;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#piece.length) return;
    this.#bytes = new Uint8Array(Math.max(PIECE, bytes));
    this.#piece = Buffer.from(this.#bytes.buffer);
    this.#at = 0;
  }

  /** Entries of one moment share their time. */
  #remember(ts: string): void {
    this.#ts = ts;
    this.#quotedTs = JSON.stringify(ts);
  }

  #quote(event: string): string {
    const quoted = JSON.stringify(event);
    if (this.#events.size >= MAX_QUOTED) this.#events.clear();
    this.#events.set(event, quoted);
    return quoted;
  }
}
