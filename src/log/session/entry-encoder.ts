// Turns new entries into the bytes of their lines. Every acknowledged event passes through here, so its parts go
// straight into a block of memory, where they are summed; the write-ahead log and the session's log then copy these
// bytes and never parse the text again. Lines follow each other as in a frame, with their sessions' names between them,
// so that a frame is copied and summed as a whole.
import { assert } from "../../base/assert.ts";
import { crc32, putBytes, putDecimal, putHex8 } from "../../world/hash.ts";
import { type EntryHead, type NewEntry, sessionId } from "./entry.ts";

/** The bytes of one line, without its newline, in a block that it shares with others; its session's name at `from`. */
export type EncodedLine = {
  readonly block: Buffer;
  readonly from: number;
  readonly start: number;
  readonly end: number;
};

/** What is the same for all lines of a session: what comes before them in a frame, with their first key, and its id. */
export type SessionParts = { readonly before: Buffer; readonly id: Buffer };

/** Lines share blocks of memory of this size: enough for a batch of a thousand ordinary ones. */
const BLOCK = 1 << 18;
/** UTF-8 never needs more bytes than this for one UTF-16 unit. */
const MAX_BYTES_A_UNIT = 3;
/** There are few event names; quoting them each time took a twentieth of the work. */
const MAX_QUOTED = 1000;

const SEQ = '{"seq":';
const PREV = Buffer.from(',"prev":');
const SUM = Buffer.from(',"sum":"');
const END = Buffer.from('"}');
/** Of the parts that every line has. */
const FIXED_BYTES = 100;

/** What is before each line of the session in a frame. */
export function namePart(session: string): string {
  return `\t${session}\t`;
}

export function partsOf(session: string): SessionParts {
  const id = Buffer.from(`,"session_id":${JSON.stringify(sessionId(session))},"ts":`);
  return { before: Buffer.from(namePart(session) + SEQ), id };
}

export class EntryEncoder {
  #block = Buffer.alloc(0);
  /** The same memory: its views cost half as much as a Buffer's. */
  #bytes = new Uint8Array(0);
  #at = 0;
  readonly #events = new Map<string, Buffer>();
  #ts = "";
  #quotedTs = Buffer.from('""');

  /** The line (E2). Throws if the data is not JSON. */
  encode(entry: NewEntry, { seq, prev }: EntryHead, parts = partsOf(entry.session)): EncodedLine {
    const data: unknown = JSON.stringify(entry.data);
    assert(typeof data === "string", "the data of an entry is JSON");
    const by = entry.by === undefined ? "" : `,"by":${JSON.stringify(entry.by)}`;
    if (entry.ts !== this.#ts) this.#remember(entry.ts);
    const event = this.#events.get(entry.event) ?? this.#quote(entry.event);
    const quoted = parts.before.length + parts.id.length + this.#quotedTs.length + event.length;
    this.#reserve(FIXED_BYTES + quoted + (data.length + by.length) * MAX_BYTES_A_UNIT);
    const from = this.#at;
    let end = from + parts.before.copy(this.#block, from);
    const start = end - SEQ.length;
    end = putDecimal(seq, this.#bytes, end);
    end = putDecimal(prev, this.#bytes, putBytes(PREV, this.#bytes, end));
    end += parts.id.copy(this.#block, end);
    end += this.#quotedTs.copy(this.#block, end);
    end += event.copy(this.#block, end);
    end += this.#block.write(data, end);
    if (by !== "") end += this.#block.write(by, end);
    this.#at = this.#putSum(start, end);
    return { block: this.#block, from, start, end: this.#at };
  }

  /** Every line returned so far has been copied: their memory is free again. */
  reuse(): void {
    this.#at = 0;
  }

  #putSum(start: number, end: number): number {
    const sum = crc32(this.#bytes.subarray(start, end));
    const at = putBytes(SUM, this.#bytes, end);
    putHex8(sum, this.#bytes, at);
    return putBytes(END, this.#bytes, at + 8);
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    this.#bytes = new Uint8Array(Math.max(BLOCK, bytes));
    this.#block = Buffer.from(this.#bytes.buffer);
    this.#at = 0;
  }

  /** Entries of the same moment share their time. */
  #remember(ts: string): void {
    this.#ts = ts;
    this.#quotedTs = Buffer.from(JSON.stringify(ts));
  }

  #quote(event: string): Buffer {
    const quoted = Buffer.from(`,"event":${JSON.stringify(event)},"data":`);
    if (this.#events.size >= MAX_QUOTED) this.#events.clear();
    this.#events.set(event, quoted);
    return quoted;
  }
}
