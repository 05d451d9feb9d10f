// The part of fleet-tables.ts about what homes show of themselves, and ask of each other.
import type { PostgresValue } from "../../src/world/postgres.ts";
import type { Run } from "./fleet-tables.ts";

type StoredListing = { readonly at: number; readonly bytes: PostgresValue };
type StoredAsk = {
  readonly id: string;
  readonly home: string;
  readonly host: string;
  readonly until: number;
  readonly bytes: PostgresValue;
  readonly answer: PostgresValue;
};
const NOTHING = new Uint8Array();
const DONE = [["1"]];

type Undo = (() => void)[];

export class FleetNotes {
  readonly #undo: () => Undo;
  readonly #listings = new Map<string, StoredListing>();
  readonly #asks = new Map<string, StoredAsk>();

  /** `undo`: where each change is noted (FT1). */
  constructor(undo: () => Undo) {
    this.#undo = undo;
  }

  ask(id: PostgresValue | undefined): StoredAsk | undefined {
    return this.#asks.get(text(id));
  }

  setAsk(ask: StoredAsk): void {
    set(this.#asks, ask.id, ask, this.#undo());
  }

  dropAsk(id: string): void {
    const before = this.#asks.get(id);
    this.#asks.delete(id);
    if (before !== undefined) this.#undo().push(() => void this.#asks.set(id, before));
  }

  /** What waits for an answer. */
  asksOf(home: PostgresValue | undefined, now: number): readonly StoredAsk[] {
    const open = [...this.#asks.values()].filter((ask) => ask.home === home && ask.answer === NOTHING);
    return open.filter(({ until }) => until > now).toSorted((a, b) => a.until - b.until);
  }

  listing(home: string): StoredListing | undefined {
    return this.#listings.get(home);
  }

  setListing(home: string, listing: StoredListing): void {
    set(this.#listings, home, listing, this.#undo());
  }
}

function set<V>(map: Map<string, V>, key: string, value: V, undo: Undo): void {
  const before = map.get(key);
  map.set(key, value);
  undo.push(() => void (before === undefined ? map.delete(key) : map.set(key, before)));
}

function text(value: PostgresValue | undefined): string {
  if (typeof value !== "string") throw new Error("a parameter that is no text");
  return value;
}

export const NOTES: Readonly<Record<string, Run>> = {
  "holdfast.ask": (tables, [id, home, host, bytes = null, ms], now) => {
    if (tables.home([text(home)]) === undefined) return [];
    const until = now + Number(ms);
    const made = { id: text(id), home: text(home), host: text(host), until, bytes, answer: NOTHING };
    const before = tables.notes.ask(id);
    tables.notes.setAsk(before === undefined ? made : { ...before, until: Math.max(until, before.until) });
    return [[tables.notes.ask(id)?.answer ?? null]];
  },
  "holdfast.ask-answer": (tables, [id]) => {
    const ask = tables.notes.ask(id);
    return ask === undefined ? [] : [[ask.answer]];
  },
  "holdfast.asks": (tables, values, now) =>
    tables.ours(values) === undefined
      ? []
      : tables.notes.asksOf(values[0], now).map(({ id, host, bytes }) => [id, host, bytes]),
  "holdfast.forget-ask": (tables, [id]) => {
    const ask = tables.notes.ask(id);
    if (ask !== undefined && ask.answer !== NOTHING) tables.notes.dropAsk(ask.id);
    return [];
  },
  "holdfast.reply": (tables, values) => {
    const [home, , , id, answer = null] = values;
    const ask = tables.notes.ask(id);
    if (tables.ours(values) === undefined || ask === undefined || ask.home !== home) return [];
    tables.notes.setAsk({ ...ask, answer });
    return DONE;
  },
  "holdfast.list-home": (tables, values, now) => {
    const [id, , , bytes = null] = values;
    if (tables.ours(values) === undefined) return [];
    tables.notes.setListing(text(id), { at: now, bytes });
    return DONE;
  },
  "holdfast.listings": (tables, [after], now) =>
    tables.homes
      .filter(([id]) => id > text(after))
      .slice(0, 1000)
      .map(([id, { name, owner, host, leaseUntil }]) => {
        const { at, bytes } = tables.notes.listing(id) ?? { at: now + 1, bytes: new Uint8Array() };
        return [id, name, owner, host, `${Math.max(0, leaseUntil - now)}`, `${now - at}`, bytes];
      }),
};
