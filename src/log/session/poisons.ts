// Poisoned bytes: an event, or a piece of a program's input or output, with which the code of a session throws.
// `poison.json` in the session's directory names them, and says which of them an operator has skipped.
// PO1. Bytes are only named here. Log and tape stay as they are, and `log verify` still checks them.
// PO2. The file is replaced as a whole, and writes come one after the other: a skip is in force or it is not.
// PO3. A file that is missing or is not ours names nothing: the session is tried, and set aside again.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import { writeAtomic } from "../file/atomic-file.ts";
import { makeDirectories, readWhole } from "../file/file.ts";
import { POISON_FILE, sessionPath } from "./places.ts";

/** An offset counts the bytes that the process with this generation has printed. */
export type Bytes =
  | { readonly kind: "event"; readonly seq: number }
  | { readonly kind: "output"; readonly generation: number; readonly from: number; readonly to: number }
  /** Cannot be skipped: it is what a person or another agent said. */
  | { readonly kind: "input"; readonly generation: number; readonly number: number };

export type Poison = {
  readonly bytes: Bytes;
  readonly reason: string;
  readonly at: string;
  /** When it was skipped; null if it was not. */
  readonly skipped: string | null;
};

/** Thrown instead of what these bytes make throw. */
export class PoisonedBytes extends Error {
  override readonly name = "PoisonedBytes";
  readonly bytes: Bytes;

  constructor(bytes: Bytes, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.bytes = bytes;
  }
}

type HomeWorld = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

export class Poisons {
  readonly #place: HomeWorld;
  #written: Promise<void> = Promise.resolve();

  constructor(place: HomeWorld) {
    this.#place = place;
  }

  /** The poisoned input and output of a session; none if the file cannot be read now (PO3). */
  known(session: string): readonly Poison[] {
    try {
      return readPoisons(this.#place, session);
    } catch (error) {
      if (isFault(error)) return [];
      throw error;
    }
  }

  /** The seqs of the events that are skipped. */
  skipped(session: string): ReadonlySet<number> {
    return skippedEvents(this.#place, session);
  }

  /** When these were skipped; undefined if they were not. */
  skippedAt(session: string, bytes: Bytes): string | undefined {
    return this.known(session).find((poison) => isSame(poison.bytes, bytes))?.skipped ?? undefined;
  }

  /** Remembers poisoned bytes; resolves when that is durable. */
  note(session: string, bytes: Bytes, reason: string): Promise<void> {
    return this.#change(session, (before, at) =>
      before.some((one) => isSame(one.bytes, bytes)) ? before : [...before, { bytes, reason, at, skipped: null }],
    );
  }

  /** Has them skipped from the next start on; resolves when that is durable. */
  skip(session: string, bytes: Bytes, reason: string): Promise<void> {
    return this.#change(session, (before, at) => [
      ...before.filter((one) => !isSame(one.bytes, bytes)),
      { bytes, reason, at: before.find((one) => isSame(one.bytes, bytes))?.at ?? at, skipped: at },
    ]);
  }

  /** PO2 */
  #change(session: string, change: (before: readonly Poison[], at: string) => readonly Poison[]): Promise<void> {
    const { clock } = this.#place;
    const work = async () => {
      const before = readPoisons(this.#place, session);
      const after = change(before, new Date(clock.now()).toISOString());
      if (after !== before) await this.#write(session, after);
    };
    const done = this.#written.then(work);
    this.#written = done.catch(() => undefined); // The caller gets the error.
    return done;
  }

  async #write(session: string, poisons: readonly Poison[]): Promise<void> {
    const { disk, home } = this.#place;
    for (const parent of makeDirectories(disk, joinPath(home, session), home)) await disk.syncDirectory(parent);
    await writeAtomic(disk, pathOf(home, session), Buffer.from(`${JSON.stringify({ v: 1, poisons })}\n`));
  }
}

export function skippedEvents(place: Omit<HomeWorld, "clock">, session: string): ReadonlySet<number> {
  const skipped = readPoisons(place, session).filter(isSkipped);
  return new Set(skipped.flatMap(({ bytes }) => (bytes.kind === "event" ? bytes.seq : [])));
}

export function isSkipped({ skipped }: Poison): boolean {
  return skipped !== null;
}

/** Throws a Fault if the file exists and cannot be read. */
function readPoisons({ disk, home }: Omit<HomeWorld, "clock">, session: string): readonly Poison[] {
  const bytes = readWhole(disk, joinPath(sessionPath(disk, home, session), POISON_FILE));
  const list = bytes === undefined ? undefined : fieldsOf(parsed(bytes))["poisons"];
  return Array.isArray(list) ? list.flatMap((one: unknown) => poisonOf(one) ?? []) : []; // PO3
}

function pathOf(home: string, session: string): string {
  return joinPath(joinPath(home, session), POISON_FILE);
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined; // PO3
  }
}

function poisonOf(value: unknown): Poison | undefined {
  const { bytes, reason, at, skipped } = fieldsOf(value);
  const named = bytesOf(fieldsOf(bytes));
  if (named === undefined || typeof reason !== "string" || typeof at !== "string") return undefined;
  return { bytes: named, reason, at, skipped: typeof skipped === "string" ? skipped : null };
}

function bytesOf({ kind, seq, generation, from, to, number }: Readonly<Record<string, unknown>>): Bytes | undefined {
  if (kind === "event" && typeof seq === "number") return { kind, seq };
  if (typeof generation !== "number") return undefined;
  if (kind === "output" && typeof from === "number" && typeof to === "number") return { kind, generation, from, to };
  return kind === "input" && typeof number === "number" ? { kind, generation, number } : undefined;
}

function isSame(one: Bytes, other: Bytes): boolean {
  return JSON.stringify(one) === JSON.stringify(other); // Both were made with the same order of fields.
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
