// What was said and done in the log of an agent or a run, as blocks of plain text. Positions are seqs.
// LT1. Only whole, unharmed lines count. They are in these files when they are durable, so none is ever replaced.
// LT2. A run that was removed has nothing to be found.
import { isRecord, type Json } from "../base/json.ts";
import { joinPath } from "../base/path.ts";
import { type EventText, eventText } from "../core/search/event-text.ts";
import { plainText } from "../core/search/plain-text.ts";
import { decodeEntry, type Entry } from "../log/session/entry.ts";
import { isLogFile, readAfter, readFiles, segmentsIn } from "../log/session/log-segments.ts";
import { EVENTS_FILE } from "../log/session/places.ts";
import { tailOf } from "../log/session/session-log.ts";
import type { Disk } from "../world/disk.ts";
import { BLOCK_BYTES, type Place, type SourceText, type TextBlock } from "./text-block.ts";

const REMOVED = "workflow.removed";

export class LogText implements SourceText {
  readonly unit = 1;
  readonly #disk: Disk;
  readonly #directory: string;
  #name: string | null | undefined;

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  range() {
    const { trimmed, segments } = segmentsIn(this.#disk, this.#directory);
    const line = this.#lastLine();
    if (line !== undefined && decodeEntry(line.bytes)?.event === REMOVED) return { start: 0, end: 0 }; // LT2
    return { start: trimmed + 1, end: (line?.head?.seq ?? segments.at(-1)?.last ?? trimmed) + 1 };
  }

  /** Whether this is the last event. */
  endsWith(event: string): boolean {
    const line = this.#lastLine();
    return line !== undefined && decodeEntry(line.bytes)?.event === event;
  }

  #lastLine() {
    const lines = tailOf(this.#disk, joinPath(this.#directory, EVENTS_FILE), Number.POSITIVE_INFINITY);
    return lines.findLast(({ head }) => head !== undefined);
  }

  changedAt(): number {
    const files = this.#disk.list(this.#directory).filter(isLogFile);
    return Math.max(0, ...files.map((name) => this.#disk.stat(joinPath(this.#directory, name))?.modifiedMs ?? 0));
  }

  name(): string | null {
    this.#name ??= nameIn(this.#disk, this.#directory);
    return this.#name;
  }

  after(time: number): number {
    return this.changedAt() <= time ? this.range().end : 0;
  }

  block(from: number, until: number): TextBlock | undefined {
    const block = new Gathering(from);
    for (const entry of entriesFrom(this.#disk, this.#directory, from)) {
      if (entry.seq >= until) break;
      block.add(entry);
      if (block.length >= BLOCK_BYTES) break;
    }
    return block.done();
  }

  /** LT1 */
  proof(): number {
    return 0;
  }
}

/** A block begins behind an entry of this log, which is found from the end of its file. */
export function* entriesFrom(disk: Disk, directory: string, from: number): Generator<Entry> {
  for (const reading of readAfter(disk, directory, from - 1) ?? readFiles(disk, directory))
    if (reading.kind === "entry" && reading.entry.seq >= from) yield reading.entry;
}

/** Its id ends with its number. */
export function attemptIn(data: Json): number | undefined {
  const id = isRecord(data) ? data["attempt"] : undefined;
  const number = typeof id === "string" ? /\.(\d{1,9})$/.exec(id)?.[1] : undefined;
  return number === undefined ? undefined : Number(number);
}

/** An agent and a run are named by their first event. */
function nameIn(disk: Disk, directory: string): string | null {
  for (const reading of readFiles(disk, directory)) {
    const { data = null } = reading.kind === "entry" ? reading.entry : {};
    return isRecord(data) && typeof data["name"] === "string" ? data["name"] : null;
  }
  return null;
}

class Gathering {
  readonly #pieces: Uint8Array[] = [];
  readonly #places: (Place & { readonly start: number })[] = [];
  readonly #from: number;
  #span: { readonly from: number; readonly first: number; to: number; last: number } | undefined;
  length = 0;

  constructor(from: number) {
    this.#from = from;
  }

  add({ seq, ts, event, data }: Entry): void {
    const at = Date.parse(ts) || 0;
    this.#span ??= { from: this.#from, first: at, to: seq + 1, last: at };
    this.#span.to = seq + 1;
    this.#span.last = at;
    const found = eventText(event, data);
    const attempt = found?.kind === "run" ? attemptIn(data) : undefined;
    if (found === undefined) return;
    this.#addText(found, { position: seq, at, kind: found.kind, ...(attempt !== undefined && { attempt }) });
  }

  #addText({ text }: EventText, place: Place): void {
    const { bytes } = plainText(new TextEncoder().encode(text));
    this.#places.push({ ...place, start: this.length });
    this.#pieces.push(bytes);
    this.length += bytes.length;
  }

  done(): TextBlock | undefined {
    if (this.#span === undefined) return undefined;
    const places = this.#places;
    const text = new Uint8Array(Buffer.concat(this.#pieces));
    const { from, first } = this.#span;
    const nowhere: Place = { position: from, at: first, kind: "agent" };
    return { ...this.#span, text, placeOf: (at) => places.findLast(({ start }) => start <= at) ?? nowhere };
  }
}
