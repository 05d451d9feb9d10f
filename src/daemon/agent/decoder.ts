// The bytes of a process as events: lines are cut, decoded, and gathered into what one transaction takes.
// D1. An offset is the end of a whole line: what a piece has cut is read again from its beginning.
// D2. A line over the limit is skipped: no program prints so much on purpose, and memory is bounded.
import type { Codec, ProviderEvent, SessionFacts } from "../../core/agent/provider.ts";

/** D2. Pictures in a tool's result are the longest that is said. */
const MAX_LINE = 16 << 20;
/** Each is cut to 32 KiB (core/agent/limits.ts); a transaction takes 1 MiB. */
const MAX_EVENTS = 16;
const NEWLINE = 10;

export type Batch = {
  readonly offset: number;
  readonly events: readonly ProviderEvent[];
  readonly replies: readonly string[];
};

export class Decoder {
  readonly #codec: Codec;
  #rest: Buffer = Buffer.alloc(0);
  /** The offset of the first byte of `#rest`. */
  #at: number;
  /** In the middle of a line that is passed over (D2). */
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
    const known = this.end - offset; // A new connection may begin before what was heard.
    if (known < 0) this.#skipTo(offset);
    const news = Buffer.from(known > 0 ? bytes.subarray(known) : bytes);
    this.#rest = this.#rest.length === 0 ? news : Buffer.concat([this.#rest, news]);
    if (this.#rest.length > MAX_LINE && !this.#rest.includes(NEWLINE)) this.#pass();
  }

  /** The next whole lines; undefined if there are none. */
  next(facts: SessionFacts): Batch | undefined {
    const events: ProviderEvent[] = [];
    const replies: string[] = [];
    let known = facts;
    const from = this.#at;
    while (events.length < MAX_EVENTS) {
      const line = this.#line();
      if (line === undefined) break;
      const found = this.#codec.decode(line, known);
      events.push(...found.events);
      replies.push(...found.replies);
      known = found.events.reduce(after, known);
    }
    return this.#at === from ? undefined : { offset: this.#at, events, replies };
  }

  /** What stands behind the last line's end, once nothing more comes. */
  last(facts: SessionFacts): Batch | undefined {
    if (this.#rest.length === 0) return undefined;
    const line = this.#rest.toString("utf8");
    this.#at = this.end;
    this.#rest = Buffer.alloc(0);
    return { offset: this.#at, ...this.#codec.decode(line, facts) };
  }

  #line(): string | undefined {
    const end = this.#rest.indexOf(NEWLINE);
    if (end < 0) return undefined;
    const line = this.#passing ? "" : this.#rest.toString("utf8", 0, end);
    this.#passing = false;
    this.#at += end + 1;
    this.#rest = this.#rest.subarray(end + 1);
    return line;
  }

  /** Something was left out: what comes is no whole line before the next one begins. */
  #skipTo(offset: number): void {
    this.#at = offset;
    this.#rest = Buffer.alloc(0);
    this.#passing = true;
  }

  #pass(): void {
    this.#at = this.end;
    this.#rest = Buffer.alloc(0);
    this.#passing = true;
  }
}

/** What is known once an event was heard: a session that was named is open. */
function after(facts: SessionFacts, event: ProviderEvent): SessionFacts {
  return event.kind === "session" ? { ...facts, session: event.session, open: true } : facts;
}
