// The tables of a fleet in memory, and what each of its statements does to them; recognised by name, not by their text.
// That they do the same in PostgreSQL is what tests/fleet/contract.ts checks.
// FT1. Every change can be taken back, newest first: that is what a fail-over does to the tail.
import type { PostgresRow, PostgresValue } from "../../src/world/postgres.ts";
import { FleetNotes, NOTES } from "./fleet-notes.ts";

type Home = {
  readonly epoch: number;
  readonly take: string;
  readonly owner: string;
  /** -Infinity: nobody has it. */
  readonly leaseUntil: number;
  readonly lastSeq: number;
  readonly snapshot: number;
  readonly name: string;
  readonly takeover: string;
  readonly host: string;
  readonly moveTo: string;
};
const NEW_HOME = {
  ...{ epoch: 0, take: "", owner: "", leaseUntil: Number.NEGATIVE_INFINITY, snapshot: 0 },
  ...{ name: "", takeover: "auto", host: "", moveTo: "" },
};
type SeenHost = { readonly values: Values; readonly seen: number };
export type StoredItem = {
  readonly n: number;
  readonly id: string;
  readonly at: number;
  readonly asker: string;
  readonly kind: string;
  readonly labels: string;
  readonly bytes: PostgresValue;
  readonly state: string;
  readonly home: string;
  readonly epoch: number;
  readonly host: string;
  readonly words: string;
};
const NEW_ITEM = { state: "open", home: "", epoch: 0, host: "", words: "" };
type StoredEvent = { readonly at: number; readonly values: Values };
export type StoredBatch = { readonly first: number; readonly last: number; readonly bytes: Uint8Array };
type Part = { readonly seq: number; readonly part: number; readonly parts: number; readonly rest: PostgresValue[] };
type Values = readonly PostgresValue[];

const MERGED = 1 << 20;
const READ_BYTES = 8 << 20;
const LISTED = 5000;

export class FleetTables {
  version = 4;
  readonly #homes = new Map<string, Home>();
  readonly #batches = new Map<string, StoredBatch[]>();
  readonly #blobs = new Map<string, Part[]>();
  readonly #hosts = new Map<string, SeenHost>();
  /** In one place of a map, so that they can be taken back like everything else. */
  readonly #events = new Map<"all", readonly StoredEvent[]>();
  readonly #items = new Map<string, StoredItem>();
  readonly notes = new FleetNotes(() => this.#undo);
  #undo: (() => void)[] = [];

  get items(): readonly StoredItem[] {
    return [...this.#items.values()].toSorted((a, b) => a.n - b.n);
  }

  setItem(item: StoredItem): void {
    set(this.#items, item.id, item, this.#undo);
  }

  batchesOf(home: string): readonly StoredBatch[] {
    return this.#batches.get(home) ?? [];
  }

  /** Returns the rows, and how to take the change back if there was one (FT1). */
  run(
    name: string,
    values: Values,
    now: number,
  ): { readonly rows: readonly PostgresRow[]; readonly undo?: () => void } {
    this.#undo = [];
    const statement = STATEMENTS[name];
    if (statement === undefined) throw new Error(`the simulated database does not know ${name}`);
    const rows = statement(this, values, now);
    const undo = this.#undo.reverse();
    return undo.length === 0 ? { rows } : { rows, undo: () => undo.forEach((back) => void back()) };
  }

  home(values: Values): Home | undefined {
    return this.#homes.get(text(values[0]));
  }

  /** The home, if the epoch and the take are its own. */
  ours(values: Values): Home | undefined {
    const home = this.home(values);
    return home?.epoch === Number(values[1]) && home.take === values[2] ? home : undefined;
  }

  change(id: PostgresValue | undefined, home: Home): void {
    set(this.#homes, text(id), home, this.#undo);
  }

  get homes(): readonly (readonly [string, Home])[] {
    return [...this.#homes].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  get hosts(): readonly SeenHost[] {
    const nameOf = ({ values: [id, name] }: SeenHost) => `${text(name)}\n${text(id)}`;
    return [...this.#hosts.values()].toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  announce(host: SeenHost): void {
    set(this.#hosts, text(host.values[0]), host, this.#undo);
  }

  get events(): readonly StoredEvent[] {
    return this.#events.get("all") ?? [];
  }

  add(event: StoredEvent): void {
    set(this.#events, "all", [...this.events, event], this.#undo);
  }

  setBatches(id: PostgresValue | undefined, batches: StoredBatch[]): void {
    set(this.#batches, text(id), batches, this.#undo);
  }

  blobs(id: PostgresValue | undefined, path: PostgresValue | undefined): readonly Part[] {
    return this.#blobs.get(`${text(id)}\n${text(path)}`) ?? [];
  }

  /** Of the blobs that are there, in order. */
  pathsOf(id: PostgresValue | undefined): readonly string[] {
    const prefix = `${text(id)}\n`;
    const keys = [...this.#blobs].filter(([key, parts]) => key.startsWith(prefix) && parts.length > 0);
    return keys.map(([key]) => key.slice(prefix.length)).sort();
  }

  setBlobs(id: PostgresValue | undefined, path: PostgresValue | undefined, parts: Part[]): void {
    set(this.#blobs, `${text(id)}\n${text(path)}`, parts, this.#undo);
  }
}

function set<K, V>(map: Map<K, V>, key: K, value: V, undo: (() => void)[]): void {
  const before = map.get(key);
  map.set(key, value);
  undo.push(() => void (before === undefined ? map.delete(key) : map.set(key, before)));
}

function text(value: PostgresValue | undefined): string {
  if (typeof value !== "string") throw new Error("a parameter that is no text");
  return value;
}

const DONE: PostgresRow[] = [["1"]];

export type Run = (tables: FleetTables, values: Values, now: number) => readonly PostgresRow[];

const STATEMENTS: Readonly<Record<string, Run>> = {
  ...NOTES,
  "holdfast.session": () => [["on"]],
  "holdfast.version": ({ version }) => [[`${version}`, "true"]],
  "holdfast.enrol": (tables, values) => {
    tables.change(values[0], tables.home(values) ?? { ...NEW_HOME, lastSeq: Number(values[1]) });
    return [];
  },
  "holdfast.look": (tables, values, now) => {
    const home = tables.home(values);
    if (home === undefined) return [];
    const left = Math.max(0, home.leaseUntil - now);
    return [[`${home.epoch}`, home.owner, `${left}`, `${home.lastSeq}`, `${home.snapshot}`, home.take, home.moveTo]];
  },
  "holdfast.take": (tables, values, now) => {
    const [id, epoch, take, owner, ms, ifExpired] = values;
    const home = tables.home(values);
    if (home?.epoch !== Number(epoch) - 1 || (ifExpired === "true" && home.leaseUntil >= now)) return [];
    const leaseUntil = now + Number(ms);
    tables.change(id, { ...home, epoch: Number(epoch), take: text(take), owner: text(owner), leaseUntil });
    return DONE;
  },
  "holdfast.hold": (tables, values, now) => {
    const home = tables.ours(values);
    if (home === undefined) return [];
    tables.change(values[0], { ...home, leaseUntil: now + Number(values[3]) });
    return [[`${home.lastSeq}`, `${tables.notes.asksOf(values[0], now).length > 0}`]];
  },
  "holdfast.append": (tables, values, now) => {
    const [id, , , before, last, bytes, ms] = values;
    const home = tables.ours(values);
    if (home?.lastSeq !== Number(before) || !(bytes instanceof Uint8Array)) return [];
    tables.change(id, { ...home, lastSeq: Number(last), leaseUntil: now + Number(ms) });
    const batch = { first: Number(before) + 1, last: Number(last), bytes };
    tables.setBatches(id, [...tables.batchesOf(text(id)), batch]);
    return DONE;
  },
  "holdfast.read": (tables, [id, after]) => {
    const found = upTo(
      READ_BYTES,
      tables.batchesOf(text(id)).filter(({ last }) => last > Number(after)),
    );
    return found.map(({ first, last, bytes }) => [`${first}`, `${last}`, bytes]);
  },
  "holdfast.snapshot": (tables, values) => {
    const [home, snapshot] = [tables.ours(values), Number(values[3])];
    if (home === undefined || snapshot < home.snapshot || snapshot > home.lastSeq) return [];
    tables.change(values[0], { ...home, snapshot });
    return DONE;
  },
  "holdfast.merge": merge,
  "holdfast.put": (tables, values) => {
    const [id, , , path, seq, part, parts, ...rest] = values;
    if (tables.ours(values) === undefined) return [];
    const one = { seq: Number(seq), part: Number(part), parts: Number(parts), rest };
    const others = tables.blobs(id, path).filter((other) => other.seq !== one.seq || other.part !== one.part);
    tables.setBlobs(id, path, [...others, one]);
    return DONE;
  },
  "holdfast.tidy": (tables, values) => {
    const [id, , , path, seq] = values;
    const parts = tables.blobs(id, path);
    if (tables.ours(values) === undefined || (newestWhole(parts) ?? -1) < Number(seq)) return [];
    const kept = parts.filter((part) => part.seq >= Number(seq));
    tables.setBlobs(id, path, kept);
    return [];
  },
  "holdfast.get": (tables, [id, path]) => {
    const parts = tables.blobs(id, path);
    const found = parts.filter(({ seq }) => seq === newestWhole(parts)).toSorted((a, b) => a.part - b.part);
    return found.map(({ seq, part, parts, rest }) => [`${seq}`, `${part}`, `${parts}`, ...rest]);
  },
  "holdfast.backlog": (tables, [id]) => {
    const behind = tables.batchesOf(text(id)).filter(({ first }) => first > (tables.home([text(id)])?.snapshot ?? 0));
    return [[`${behind.reduce((sum, { bytes }) => sum + bytes.length, 0)}`]];
  },
  "holdfast.list": (tables, [id, after]) =>
    tables
      .pathsOf(id)
      .filter((path) => path > text(after))
      .slice(0, LISTED)
      .map((path) => listed(path, tables.blobs(id, path))),
  "holdfast.drop": (tables, values) => {
    if (tables.ours(values) === undefined) return [];
    tables.setBlobs(values[0], values[3], []);
    return DONE;
  },

  "holdfast.takeover": (tables, values) => {
    const home = tables.ours(values);
    if (home === undefined) return [];
    tables.change(values[0], { ...home, takeover: text(values[3]) });
    return DONE;
  },
  "holdfast.mode": (_, __, now) => [["standby", "on", `${now}`]],
  "holdfast.standbys": () => [["1"]],
  "holdfast.announce": (tables, values, now) => {
    tables.announce({ values, seen: now });
    return [];
  },
  "holdfast.hosts": (tables, _, now) => tables.hosts.map(({ values, seen }) => [...values, `${now - seen}`]),
  "holdfast.homes": (tables, _, now) => tables.homes.map(([id, home]) => watched(id, home, now)),
  "holdfast.describe": (tables, values) => {
    const [home, [id, , , name, takeover, host]] = [tables.ours(values), values];
    if (home === undefined) return [];
    tables.change(id, { ...home, name: home.name || text(name), takeover: text(takeover), host: text(host) });
    return DONE;
  },
  "holdfast.release": (tables, values) => {
    const home = tables.ours(values);
    if (home === undefined) return [];
    tables.change(values[0], { ...home, leaseUntil: Number.NEGATIVE_INFINITY });
    return DONE;
  },
  "holdfast.move-to": (tables, values) => {
    const home = tables.home(values);
    if (home === undefined) return [];
    tables.change(values[0], { ...home, moveTo: text(values[1]) });
    return DONE;
  },
  "holdfast.event": (tables, values, now) => {
    tables.add({ at: now, values });
    return [];
  },
  "holdfast.events": (tables, [after]) => {
    const all = tables.events.map(({ at, values }, index) => [`${index + 1}`, `${at}`, ...values]);
    return all.slice(Number(after), Number(after) + 500);
  },
  "holdfast.enqueue": (tables, [id, asker, kind, labels, bytes = null], now) => {
    const n = (tables.items.at(-1)?.n ?? 0) + 1;
    const made = { n, id: text(id), at: now, asker: text(asker), kind: text(kind), labels: text(labels), bytes };
    const item = tables.items.find((other) => other.id === id) ?? { ...made, ...NEW_ITEM };
    tables.setItem(item);
    return [[`${item.n}`]];
  },
  "holdfast.claim": claim,
  "holdfast.claimed": (tables, values) => {
    const home = text(values[0]);
    const its = tables.items.filter((item) => item.home === home && item.state === "claimed");
    if (tables.ours(values) === undefined) return [];
    for (const item of its) tables.setItem({ ...item, epoch: Number(values[1]), host: text(values[3]) });
    return its.map(itemRow);
  },
  "holdfast.finish": (tables, values) => {
    const [home, , , id, state, words] = values;
    const item = tables.items.find((other) => other.id === id && other.home === home);
    if (tables.ours(values) === undefined || item === undefined) return [];
    if (item.state !== "claimed" && item.state !== state) return [];
    tables.setItem({ ...item, state: text(state), words: text(words) });
    return DONE;
  },
  "holdfast.queue": (tables, [after]) =>
    tables.items
      .filter(({ n }) => n > Number(after))
      .slice(0, 500)
      .map(({ n, id, at, asker, kind, labels, state, home, host, words }) => [
        ...[`${n}`, id, `${at}`, asker, kind, labels, state, home, host, words],
      ]),
  "holdfast.cancel": (tables, [id]) => {
    const item = tables.items.find((other) => other.id === id && ["open", "cancelled"].includes(other.state));
    if (item === undefined) return [];
    tables.setItem({ ...item, state: "cancelled" });
    return DONE;
  },
};

function itemRow({ id, asker, kind, bytes }: StoredItem): PostgresRow {
  return [id, asker, kind, bytes];
}

/** Of the home for which the fewest are worked on, and its oldest. */
function claim(tables: FleetTables, values: Values): readonly PostgresRow[] {
  const [home, epoch, , host, labels] = values;
  if (tables.ours(values) === undefined) return [];
  const { items } = tables;
  const has = text(labels).split("\n");
  const worked = ({ asker }: StoredItem) =>
    items.filter((other) => other.state === "claimed" && other.asker === asker).length;
  const fits = (item: StoredItem) =>
    item.labels === "" || item.labels.split("\n").every((label) => has.includes(label));
  const open = items.filter((item) => item.state === "open" && fits(item));
  const [item] = open.toSorted((a, b) => worked(a) - worked(b) || a.n - b.n);
  if (item === undefined) return [];
  tables.setItem({ ...item, state: "claimed", home: text(home), epoch: Number(epoch), host: text(host) });
  return [itemRow(item)];
}

function watched(id: string, home: Home, now: number): PostgresRow {
  const { name, take, epoch, owner, host, leaseUntil, lastSeq, snapshot, takeover, moveTo } = home;
  const end = leaseUntil === Number.NEGATIVE_INFINITY ? "" : `${leaseUntil * 1_000}`;
  const seen = [id, name, take, `${epoch}`, owner, host, `${Math.max(0, leaseUntil - now)}`, end];
  return [...seen, `${lastSeq}`, `${snapshot}`, takeover, moveTo];
}

function merge(tables: FleetTables, values: Values): readonly PostgresRow[] {
  const home = tables.ours(values);
  if (home === undefined) return [];
  const all = tables.batchesOf(text(values[0]));
  const may = ({ first, last }: StoredBatch) =>
    first > Number(values[3]) && last <= home.snapshot && last < home.lastSeq;
  const merged = upTo(MERGED, all.filter(may));
  const [first, last] = [merged[0], merged.at(-1)];
  if (first === undefined || last === undefined) return [];
  const one = { first: first.first, last: last.last, bytes: Buffer.concat(merged.map((batch) => batch.bytes)) };
  const rest = all.filter((batch) => !merged.includes(batch));
  tables.setBatches(
    values[0],
    [...rest, one].toSorted((a, b) => a.first - b.first),
  );
  return [[`${one.last}`]];
}

/** Of so many bytes together, and one at least. */
function upTo(most: number, batches: readonly StoredBatch[]): readonly StoredBatch[] {
  let bytes = 0;
  return batches.filter((batch, nth) => {
    bytes += batch.bytes.length;
    return nth === 0 || bytes <= most;
  });
}

function listed(path: string, parts: readonly Part[]): PostgresRow {
  const whole = newestWhole(parts);
  const its = parts.filter(({ seq }) => seq === whole).toSorted((a, b) => a.part - b.part);
  const [hash = new Uint8Array(), first] = its[0]?.rest ?? [];
  const size = its.reduce((sum, { rest }) => sum + (rest[1] instanceof Uint8Array ? rest[1].length : 0), 0);
  const mark = first instanceof Uint8Array ? first.slice(5, 29) : new Uint8Array();
  return [path, `${Math.max(...parts.map(({ seq }) => seq))}`, `${whole ?? -1}`, hash, mark, `${size}`];
}

function newestWhole(parts: readonly Part[]): number | undefined {
  const seqs = [...new Set(parts.map(({ seq }) => seq))].toSorted((a, b) => b - a);
  return seqs.find((seq) => {
    const its = parts.filter((part) => part.seq === seq);
    return its.length === its[0]?.parts;
  });
}
