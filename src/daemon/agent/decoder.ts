// Turns the output of a process into events: it is split into lines, decoded, and gathered into batches of one
// transaction each.
// D1. An offset is always the end of a whole line: an incomplete line is read again from its beginning.
// D2. A line over the limit is skipped: no program prints that much on purpose, and memory is bounded.
// D3. A line with which the codec throws ends the batch before it: everything up to it is read. The next call throws,
//     and says where the line is. A line that an operator has skipped is not decoded.
// D4. If the events of a batch cannot be decided, its lines are read again one by one, until the one is found.
// D5. A batch ends with the line that makes it large, so that one large line does not take others with it if it is
//     more than a transaction takes (E4 of engine.ts).
// D6. Partial text is of a batch without events before it: a watcher knows by its offset to which text it belongs.
// D7. Text that comes in parts only is gathered, and is an event together with the next line of another kind, when
//     there is much of it, or when the caller wants it (`flush`). Until then its lines are not read: nothing of it can
//     be lost.
import { assert } from "../../base/assert.ts";
import { ByteQueue } from "../../base/byte-queue.ts";
import type { Codec, Decoded, ProviderEvent, SessionFacts } from "../../core/agent/provider.ts";
import { PoisonedBytes } from "../../log/session/poisons.ts";

/** D2. Images in tool results are the longest lines. */
const MAX_LINE = 16 << 20;
/** Each is cut to 32 KiB (core/agent/limits.ts); a transaction takes 1 MiB. */
const MAX_EVENTS = 16;
/** D5. Of output; what is recorded of it may be three times as long. */
const MAX_BATCH = 64 << 10;
/** D7. Half of what an event keeps of a text (MAX_PIECE of core/agent/limits.ts). */
const MAX_PARTS = 16 << 10;
const NEWLINE = 10;

export type Batch = {
  readonly offset: number;
  readonly events: readonly ProviderEvent[];
  readonly replies: readonly string[];
  /** D6. All partial text in it, and whether it has no other lines. */
  readonly partial: string;
  readonly isPartial: boolean;
  /** D7. Whether that text comes in parts only. */
  readonly joins: boolean;
};

/** The output of a process, from an offset on. */
export type Output = {
  readonly generation: number;
  readonly from: number;
  /** D3. Where the lines begin that are not decoded. */
  readonly skipped: ReadonlySet<number>;
};

type Line = { readonly text: string; readonly bytes: number };
/** Where reading stood before the last batch; its end, and the number of its lines. */
type Before = {
  readonly at: number;
  readonly rest: Uint8Array;
  readonly passing: boolean;
  readonly to: number;
  readonly lines: number;
  readonly parts: string;
};

export class Decoder {
  readonly #codec: Codec;
  readonly #output: Output;
  #rest = new ByteQueue();
  /** The offset of the first byte of `#rest`. */
  #at: number;
  /** Inside a line that is skipped (D2). */
  #passing = false;
  #before: Before | undefined;
  /** D7. What no batch had as an event yet. */
  #parts = "";
  /** D3 */
  #poison: PoisonedBytes | undefined;
  /** D4 */
  #oneByOne = false;

  constructor(codec: Codec, output: Output) {
    this.#codec = codec;
    this.#output = output;
    this.#at = output.from;
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

  /** The next whole lines; undefined if there are none. Throws at a line that is poisoned (D3). */
  next(facts: SessionFacts): Batch | undefined {
    const gathering = new Gathering(facts, this.#parts);
    const before = this.#here();
    let lines = 0;
    for (; lines === 0 || !(gathering.isFull || this.#oneByOne); lines += 1) {
      const line = this.#line();
      const found = line && this.#decode(line, gathering.facts);
      if (line === undefined || found === undefined || !gathering.takes(found)) break;
      this.#advance(line.bytes);
      gathering.add(found, line.text.length);
    }
    if (lines === 0 && this.#poison !== undefined) throw this.#poison;
    this.#before = { ...before, to: this.#at, lines };
    if (lines === 0) return undefined;
    const batch = gathering.batch(this.#at);
    this.#parts = gathering.parts;
    return batch;
  }

  /** D7 */
  get hasParts(): boolean {
    return this.#parts !== "";
  }

  /** D7. What was gathered, as a batch that ends where the last one did; undefined if there is nothing. */
  flush(): Batch | undefined {
    if (this.#parts === "") return undefined;
    this.#before = { ...this.#here(), to: this.#at, lines: 0 };
    const events = [textOf(this.#parts)];
    this.#parts = "";
    return { offset: this.#at, events, replies: [], partial: "", isPartial: false, joins: true };
  }

  #here(): Omit<Before, "to" | "lines"> {
    return { at: this.#at, rest: this.#rest.view(), passing: this.#passing, parts: this.#parts };
  }

  /** Once the output has ended: what is left of it, piece by piece, with all of its text (D7). */
  rest(facts: SessionFacts): Batch | undefined {
    const next = this.next(facts) ?? this.last(facts);
    return next?.isPartial === false ? next : (this.flush() ?? next);
  }

  /** The incomplete last line, once the output has ended. */
  last(facts: SessionFacts): Batch | undefined {
    if (this.#rest.length === 0) return undefined;
    const before = this.#here();
    const found = this.#decode({ text: this.#rest.text(this.#rest.length), bytes: this.#rest.length }, facts);
    if (found === undefined) throw this.#poison;
    this.#advance(this.#rest.length);
    this.#before = { ...before, to: this.#at, lines: 1 };
    const parts = this.#parts + (found.part ?? "");
    this.#parts = "";
    const events = parts === "" ? found.events : [textOf(parts), ...found.events];
    return { offset: this.#at, partial: "", isPartial: false, joins: false, events, replies: found.replies };
  }

  /** D4. The last batch could not be decided. */
  takeBack(error: unknown): void {
    assert(this.#before !== undefined, "there was a batch");
    const { at, to, rest, passing, lines, parts } = this.#before;
    if (lines === 0) throw error; // There is no line to blame.
    const isLine = lines === 1 || this.#at !== to; // After a gap in the output, its lines cannot be told apart.
    const later = this.#rest.view();
    this.#rest = new ByteQueue();
    for (const bytes of [rest.subarray(0, to - at), later]) this.#rest.push(bytes);
    this.#at = at;
    this.#passing = passing;
    this.#parts = parts;
    this.#oneByOne = true;
    if (isLine) this.#poisoned(to, error);
  }

  /** Undefined if the codec throws (D3). */
  #decode({ text, bytes }: Line, facts: SessionFacts): ReturnType<Codec["decode"]> | undefined {
    if (this.#output.skipped.has(this.#at)) return NOTHING;
    if (this.#poison !== undefined) return undefined;
    try {
      return this.#codec.decode(text, facts);
    } catch (error) {
      this.#poisoned(this.#at + bytes, error);
      return undefined;
    }
  }

  #poisoned(to: number, error: unknown): void {
    const { generation } = this.#output;
    this.#poison = new PoisonedBytes({ kind: "output", generation, from: this.#at, to }, error);
  }

  /** The next line, and its length with the newline. */
  #line(): Line | undefined {
    const end = this.#rest.find(NEWLINE);
    if (end < 0) return undefined;
    return { text: this.#passing ? "" : this.#rest.text(end), bytes: end + 1 };
  }

  #advance(bytes: number): void {
    this.#passing = false;
    this.#at += bytes;
    this.#rest.drop(bytes);
  }

  /** What is before this offset is missing, or skipped: nothing is a whole line until the next one begins. */
  #skipTo(offset: number): void {
    this.#at = offset;
    this.#rest.drop(this.#rest.length);
    this.#passing = true;
  }
}

/** A batch in the making. */
class Gathering {
  readonly #events: ProviderEvent[] = [];
  readonly #replies: string[] = [];
  #partial = "";
  #isPartial = true;
  #joins = false;
  #taken = 0;
  /** As they are after its lines. */
  facts: SessionFacts;
  /** D7 */
  parts: string;

  constructor(facts: SessionFacts, parts: string) {
    this.facts = facts;
    this.parts = parts;
  }

  get isFull(): boolean {
    return this.#events.length >= MAX_EVENTS || this.#taken >= MAX_BATCH || this.parts.length >= MAX_PARTS;
  }

  /** D6 */
  takes({ partial, part }: Decoded): boolean {
    return (partial ?? part) === undefined || this.#events.length === 0;
  }

  add({ events, replies, partial, part }: Decoded, length: number): void {
    const isPartial = (partial ?? part) !== undefined;
    this.parts += part ?? "";
    this.#joins ||= part !== undefined;
    if (!isPartial || this.parts.length >= MAX_PARTS) this.#join();
    this.#partial += partial ?? part ?? "";
    this.#isPartial &&= isPartial;
    for (const event of events) this.#events.push(event); // There may be too many for a call.
    for (const reply of replies) this.#replies.push(reply);
    this.#taken += length;
    this.facts = events.reduce(after, this.facts);
  }

  /** D7 */
  #join(): void {
    if (this.parts !== "") this.#events.push(textOf(this.parts));
    this.parts = "";
  }

  batch(offset: number): Batch {
    const isPartial = this.#isPartial && this.#events.length === 0;
    return {
      ...{ offset, events: this.#events, replies: this.#replies },
      ...{ partial: this.#partial, isPartial, joins: this.#joins },
    };
  }
}

function textOf(text: string): ProviderEvent {
  return { kind: "text", text, part: true };
}

const NOTHING = { events: [], replies: [] };

/** The facts after an event: a session that was named is open. */
function after(facts: SessionFacts, event: ProviderEvent): SessionFacts {
  return event.kind === "session" ? { ...facts, session: event.session, open: true } : facts;
}
