// Turns new entries into the bytes of their lines. Every acknowledged event passes through
// here, so it makes one string, encodes it once, and sums the bytes; the write-ahead log
// and the session's log then copy these bytes and never parse the text again.
import { assert } from "../../base/assert.ts";
import { crc32, putHex8 } from "../../world/hash.ts";
import { type EntryHead, type NewEntry, sessionId } from "./entry.ts";

/** Lines share blocks of memory of this size. */
const PIECE = 1 << 16;
/** UTF-8 never needs more bytes than this for one UTF-16 unit. */
const MAX_BYTES_A_UNIT = 3;
/** A placeholder for the sum, until there are bytes to sum. */
const NO_SUM = ',"sum":"00000000"}';
/** There are few event names; quoting them each time took a twentieth of the work. */
const MAX_QUOTED = 1000;

export class EntryEncoder {
  #piece = Buffer.alloc(0);
  /** The same memory: its views cost half as much as a Buffer's. */
  #bytes = new Uint8Array(0);
  #at = 0;
  readonly #events = new Map<string, string>();
  #ts = "";
  #quotedTs = '""';

  /** The line without its newline (E2). Throws if the data is not JSON. */
  encode(entry: NewEntry, head: EntryHead, id = JSON.stringify(sessionId(entry.session))): Uint8Array {
    const data: unknown = JSON.stringify(entry.data);
    assert(typeof data === "string", "the data of an entry is JSON");
    if (entry.ts !== this.#ts) this.#remember(entry.ts);
    const event = this.#events.get(entry.event) ?? this.#quote(entry.event);
    const by = entry.by === undefined ? "" : `,"by":${JSON.stringify(entry.by)}`;
    const text = `{"seq":${head.seq},"prev":${head.prev},"session_id":${id},"ts":${this.#quotedTs},"event":${event},"data":${data}${by}${NO_SUM}`;
    this.#reserve(text.length * MAX_BYTES_A_UNIT);
    const start = this.#at;
    const end = start + this.#piece.write(text, start, "utf8");
    putHex8(crc32(this.#bytes.subarray(start, end - NO_SUM.length)), this.#bytes, end - 10);
    this.#at = end;
    return this.#bytes.subarray(start, end);
  }

  /** Every line returned so far has been copied: their memory is free again. */
  reuse(): void {
    this.#at = 0;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#piece.length) return;
    this.#bytes = new Uint8Array(Math.max(PIECE, bytes));
    this.#piece = Buffer.from(this.#bytes.buffer);
    this.#at = 0;
  }

  /** Entries of the same moment share their time. */
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
