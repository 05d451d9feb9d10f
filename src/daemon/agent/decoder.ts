// Turns the output of a process into events: it is split into lines, decoded, and gathered into batches of one
// transaction each.
// D1. An offset is always the end of a whole line: an incomplete line is read again from its beginning.
// D2. A line over the limit is skipped: no program prints that much on purpose, and memory is bounded.
// D3. A batch ends with the line that makes it large, so that one large line does not take others with it if it is
//     more than a transaction takes (E4 of engine.ts).
import type { Codec, ProviderEvent, SessionFacts } from "../../core/agent/provider.ts";
import { ByteQueue } from "../../wire/byte-queue.ts";

/** D2. Images in tool results are the longest lines. */
const MAX_LINE = 16 << 20;
/** Each is cut to 32 KiB (core/agent/limits.ts); a transaction takes 1 MiB. */
const MAX_EVENTS = 16;
/** D3. Of output; what is recorded of it may be three times as long. */
const MAX_BATCH = 64 << 10;
const NEWLINE = 10;

export type Batch = {
  readonly offset: number;
  readonly events: readonly ProviderEvent[];
  readonly replies: readonly string[];
};

export class Decoder {
  readonly #codec: Codec;
  readonly #rest = new ByteQueue();
  /** The offset of the first byte of `#rest`. */
  #at: number;
  /** Inside a line that is skipped (D2). */
  #passing = false;

  constructor(codec: Codec, from: number) {
    this.#codec = codec;
    this.#at = from;
  }

  /** Where the next byte is expected. */
  get end(): number {
    return this.#at + this.#rest.length;
  }

  push(offset: number, bytes: Uint8Array): void {
    const known = this.end - offset; // A new connection may begin before the bytes we have.
    if (known < 0) this.#skipTo(offset);
    this.#rest.push(known > 0 ? bytes.subarray(known) : bytes);
    if (this.#rest.length > MAX_LINE && this.#rest.find(NEWLINE) < 0) this.#skipTo(this.end);
  }

  /** The next whole lines; undefined if there are none. */
  next(facts: SessionFacts): Batch | undefined {
    const events: ProviderEvent[] = [];
    const replies: string[] = [];
    let known = facts;
    const from = this.#at;
    let taken = 0;
    while (events.length < MAX_EVENTS && taken < MAX_BATCH) {
      const line = this.#line();
      if (line === undefined) break;
      taken += line.length;
      const found = this.#codec.decode(line, known);
      for (const event of found.events) events.push(event); // There may be too many for a call.
      for (const reply of found.replies) replies.push(reply);
      known = found.events.reduce(after, known);
    }
    return this.#at === from ? undefined : { offset: this.#at, events, replies };
  }

  /** The incomplete last line, once the output has ended. */
  last(facts: SessionFacts): Batch | undefined {
    if (this.#rest.length === 0) return undefined;
    const line = this.#rest.view().toString("utf8");
    this.#at = this.end;
    this.#rest.drop(this.#rest.length);
    return { offset: this.#at, ...this.#codec.decode(line, facts) };
  }

  #line(): string | undefined {
    const end = this.#rest.find(NEWLINE);
    if (end < 0) return undefined;
    const line = this.#passing ? "" : this.#rest.view().toString("utf8", 0, end);
    this.#passing = false;
    this.#at += end + 1;
    this.#rest.drop(end + 1);
    return line;
  }

  /** What is before this offset is missing, or skipped: nothing is a whole line until the next one begins. */
  #skipTo(offset: number): void {
    this.#at = offset;
    this.#rest.drop(this.#rest.length);
    this.#passing = true;
  }
}

/** The facts after an event: a session that was named is open. */
function after(facts: SessionFacts, event: ProviderEvent): SessionFacts {
  return event.kind === "session" ? { ...facts, session: event.session, open: true } : facts;
}
