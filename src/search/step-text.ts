// What the steps of a run printed, all of it, as blocks of plain text: at the entry of the run's log by which each
// attempt ended, since that is an order that never changes. What still runs has no such entry yet.
// ST1. A position is the seq of that entry, times SPAN, and a place in the output: of stdout, or, from HALF on, of
//      stderr. When an attempt has ended, both are as they will stay, until they are collected.
// ST2. A block has the output of a limited number of attempts: each is a directory to be listed.
import { joinPath } from "../base/path.ts";
import type { Entry } from "../log/session/entry.ts";
import type { Disk } from "../world/disk.ts";
import { attemptIn, entriesFrom, LogText } from "./log-text.ts";
import { TapeText } from "./tape-text.ts";
import { BLOCK_BYTES, type Place, type SourceText, type TextBlock } from "./text-block.ts";

/** ST1. Twice what is kept of an output. */
const HALF = 128 << 20;
const SPAN = 2 * HALF;
/** ST1. Of the 33 million entries of a home before it: then positions are no safe integers any more. */
const MAX_SEQ = Math.floor(Number.MAX_SAFE_INTEGER / SPAN) - 1;
/** An attempt counts as so many bytes where sources are compared. */
const USUAL_BYTES = 4 << 10;
/** ST2 */
const MAX_ATTEMPTS = 256;
const ENDS = ["workflow.attempt.ended", "workflow.attempt.resolved"];
const TAPES = [
  { name: "tape", base: 0 },
  { name: "stderr-tape", base: HALF },
] as const;

export class StepText implements SourceText {
  readonly unit = SPAN / USUAL_BYTES;
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #log: LogText;

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
    this.#log = new LogText(disk, directory);
  }

  range() {
    const { start, end } = this.#log.range();
    return { start: Math.min(start, MAX_SEQ) * SPAN, end: Math.min(end, MAX_SEQ) * SPAN };
  }

  changedAt(): number {
    return this.#log.changedAt();
  }

  name(): string | null {
    return this.#log.name();
  }

  after(time: number): number {
    return Math.min(this.#log.after(time), MAX_SEQ) * SPAN;
  }

  proof(): number {
    return 0;
  }

  block(from: number, until: number): TextBlock | undefined {
    const found = new Outputs(from);
    for (const entry of entriesFrom(this.#disk, this.#directory, Math.floor(from / SPAN))) {
      if (entry.seq * SPAN >= until || found.isFull) break;
      const attempt = ENDS.includes(entry.event) ? attemptIn(entry.data) : undefined;
      if (attempt !== undefined) this.#add(found, entry, attempt);
      if (!found.isFull) found.passed(entry, (entry.seq + 1) * SPAN);
    }
    return found.done();
  }

  /** ST1 */
  #add(found: Outputs, entry: Entry, attempt: number): void {
    found.attempts += 1;
    for (const { name, base } of TAPES) {
      const tape = new TapeText(this.#disk, joinPath(attemptDirectory(this.#directory, attempt), name));
      const { start, end } = tape.range();
      const zero = entry.seq * SPAN + base - start; // What is dropped from a tape does not count.
      for (let at = Math.max(start, found.to - zero); at < Math.min(end, start + HALF) && !found.isFull; ) {
        const part = tape.block(at, Math.min(end, start + HALF));
        if (part === undefined) break;
        found.add(part.text, { entry, attempt, position: zero + part.from });
        found.passed(entry, zero + part.to);
        at = part.to;
      }
    }
  }
}

function attemptDirectory(directory: string, attempt: number): string {
  return joinPath(directory, `attempts/${attempt}`);
}

type Piece = { readonly entry: Entry; readonly attempt: number; readonly position: number };

/** Outputs of several attempts, as one block. */
class Outputs {
  readonly #from: number;
  readonly #pieces: Uint8Array[] = [];
  readonly #places: (Place & { readonly start: number })[] = [];
  #times: { readonly first: number; last: number } | undefined;
  #length = 0;
  attempts = 0;
  to: number;

  constructor(from: number) {
    this.#from = from;
    this.to = from;
  }

  get isFull(): boolean {
    return this.#length >= BLOCK_BYTES || this.attempts > MAX_ATTEMPTS;
  }

  add(text: Uint8Array, { entry, attempt, position }: Piece): void {
    const at = Date.parse(entry.ts) || 0;
    this.#places.push({ position, seq: entry.seq, at, kind: "run", attempt, start: this.#length });
    this.#pieces.push(text);
    this.#length += text.length;
  }

  /** Everything before this position was looked at. */
  passed({ ts }: Entry, to: number): void {
    const at = Date.parse(ts) || 0;
    this.#times ??= { first: at, last: at };
    this.#times.last = at;
    this.to = to;
  }

  done(): TextBlock | undefined {
    if (this.#times === undefined) return undefined;
    const [from, places] = [this.#from, this.#places];
    const nowhere: Place = { position: from, at: this.#times.first, kind: "run" };
    const placeOf = (at: number): Place => {
      const found = places.findLast(({ start }) => start <= at);
      return found === undefined ? nowhere : { ...found, position: found.position + at - found.start };
    };
    return { from, to: this.to, ...this.#times, text: new Uint8Array(Buffer.concat(this.#pieces)), placeOf };
  }
}

/** What attempts print that have not ended yet, of the newest ones: it is read, and never indexed. */
export function* runningOutputs(disk: Disk, directory: string): Generator<SourceText> {
  if (new LogText(disk, directory).endsWith("workflow.ended")) return; // Most have; it saves a look at each attempt.
  const names = disk.list(joinPath(directory, "attempts")).filter((name) => /^\d{1,9}$/.test(name));
  const newest = names.map(Number).sort((one, other) => other - one);
  for (const attempt of newest.slice(0, MAX_ATTEMPTS)) {
    const place = attemptDirectory(directory, attempt);
    if (disk.stat(joinPath(place, "exit.json")) !== undefined) continue;
    for (const { name } of TAPES) yield new RunningText(disk, joinPath(place, name), attempt);
  }
}

class RunningText extends TapeText {
  readonly #attempt: number;

  constructor(disk: Disk, tape: string, attempt: number) {
    super(disk, tape);
    this.#attempt = attempt;
  }

  override block(from: number, until: number): TextBlock | undefined {
    const found = super.block(from, until);
    if (found === undefined) return undefined;
    const placeOf = (at: number): Place => ({ ...found.placeOf(at), seq: 0, kind: "run", attempt: this.#attempt });
    return { ...found, placeOf };
  }
}
