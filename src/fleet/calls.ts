// Every statement that runs on the database, each in one place: its text, its parameters, its rows.
// CA1. What an owner writes is fenced: it takes effect only if the epoch and the id of the take are still its own. The
//      epoch alone is not enough: if a fail-over loses a take, the next one has the same epoch.
// CA2. What an owner writes can be sent again: it takes effect once, or has the same effect again.
// CA3. Only names of our own schema are used, and functions of the server's: a search path is nobody's way in.
import type { PostgresRow, PostgresStatement, PostgresValue } from "../world/postgres.ts";
import { bytes, integer, isApplied, only, text } from "./rows.ts";
import * as sql from "./sql.ts";

export type Call<P, R> = {
  readonly statement: PostgresStatement;
  encode(parameters: P): readonly PostgresValue[];
  /** Throws a DataError if the rows are not what the statement returns. */
  decode(rows: readonly PostgresRow[]): R;
};

/** Who may write for a home: the owner since this take. `id`: no other take has it. */
export type Take = { readonly home: string; readonly epoch: number; readonly id: string };
export type Batch = { readonly first: number; readonly last: number; readonly bytes: Uint8Array };
export type HomeRow = {
  readonly epoch: number;
  readonly owner: string;
  /** Until its lease ends, by the clock of the database; 0 if it has ended. */
  readonly leaseMs: number;
  readonly lastSeq: number;
  readonly snapshot: number;
  /** The id of the take. */
  readonly take: string;
  /** The name of the host that it is to move to; empty: none. */
  readonly moveTo: string;
};
export type BlobPart = {
  readonly path: string;
  /** What the blob is a state of; a newer one replaces older ones. */
  readonly seq: number;
  readonly part: number;
  readonly parts: number;
  /** SHA-256 of the whole blob. */
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
};

/** A host of the fleet. `id`: it is the same host as long as this is the same. */
export type HostRow = {
  readonly id: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly capacity: number;
  readonly version: string;
  /** Where its homes can be reached; empty: unknown. */
  readonly address: string;
  /** Patterns of the names of homes that it takes over by itself. */
  readonly takes: readonly string[];
  /** Since it was heard of. */
  readonly agoMs: number;
};
/** A home as its watchers see it. */
export type WatchedRow = HomeRow & {
  readonly id: string;
  readonly name: string;
  /** The id of the present take. */
  readonly take: string;
  readonly host: string;
  /** Changes at each renewal, and says nothing else; empty: its owner released it, or nobody ever had it. */
  readonly leaseEnd: string;
  readonly takeover: string;
  /** The name of the host that it is to move to; empty: none. */
  readonly moveTo: string;
};
export type FleetEvent = {
  readonly home: string;
  readonly host: string;
  readonly kind: string;
  readonly words: string;
};

export type Fenced<P> = { readonly take: Take } & P;

export const SESSION: Call<undefined, { readonly fsync: string }> = {
  statement: { name: "holdfast.session", text: sql.SESSION },
  encode: () => [],
  decode: (rows) => ({ fsync: text(only(rows)[0]) }),
};

/** `least`: the oldest program that may use the tables. */
export type Tables = { readonly version: number; readonly least: number; readonly mayWrite: boolean };

export const VERSION: Call<undefined, Tables> = {
  statement: { name: "holdfast.version", text: sql.VERSION },
  encode: () => [],
  decode: (rows) => {
    const [version, mayWrite, least] = only(rows);
    return { version: integer(version), least: integer(least), mayWrite: text(mayWrite) === "true" };
  },
};

/** Changes nothing if the home is there. `lastSeq`: where the part of its log begins that the database will have. */
export const ENROL: Call<{ readonly home: string; readonly lastSeq: number }, void> = {
  statement: { name: "holdfast.enrol", text: sql.ENROL },
  encode: ({ home, lastSeq }) => [home, `${lastSeq}`],
  decode: () => undefined,
};

export const LOOK: Call<string, HomeRow | undefined> = {
  statement: { name: "holdfast.look", text: sql.LOOK },
  encode: (home) => [home],
  decode: ([row]) =>
    row && {
      epoch: integer(row[0]),
      owner: text(row[1]),
      leaseMs: integer(row[2]),
      lastSeq: integer(row[3]),
      snapshot: integer(row[4]),
      take: text(row[5]),
      moveTo: text(row[6]),
    },
};

/** Raises the epoch to that of `take`, if it is one below. `ifExpired`: only if the lease has ended. */
export const TAKE: Call<
  Fenced<{ readonly owner: string; readonly leaseMs: number; readonly ifExpired: boolean }>,
  boolean
> = {
  statement: { name: "holdfast.take", text: sql.TAKE },
  encode: ({ take, owner, leaseMs, ifExpired }) => [...fence(take), owner, `${leaseMs}`, `${ifExpired}`],
  decode: isApplied,
};

/** `isAsked`: other hosts ask something of the home (ask-calls.ts). */
export type Held = { readonly lastSeq: number; readonly isAsked: boolean };

/** The fenced write that changes nothing but the lease. Returns where the log ends; undefined: it is not ours. */
export const HOLD: Call<Fenced<{ readonly leaseMs: number }>, Held | undefined> = {
  statement: { name: "holdfast.hold", text: sql.HOLD },
  encode: ({ take, leaseMs }) => [...fence(take), `${leaseMs}`],
  decode: ([row]) => row && { lastSeq: integer(row[0]), isAsked: text(row[1]) === "true" },
};

/** Append, fence and lease renewal in one. */
export const APPEND: Call<Fenced<{ readonly batch: Batch; readonly leaseMs: number }>, boolean> = {
  statement: { name: "holdfast.append", text: sql.APPEND },
  encode: ({ take, batch, leaseMs }) => [
    ...[...fence(take), `${batch.first - 1}`, `${batch.last}`, batch.bytes, `${leaseMs}`],
  ],
  decode: isApplied,
};

/** The next batches, from the one that has `after` + 1. */
export const READ: Call<{ readonly home: string; readonly after: number }, readonly Batch[]> = {
  statement: { name: "holdfast.read", text: sql.READ },
  encode: ({ home, after }) => [home, `${after}`],
  decode: (rows) => rows.map(([first, last, it]) => ({ first: integer(first), last: integer(last), bytes: bytes(it) })),
};

/** What is needed of the log up to `seq` is in blobs now. */
export const SNAPSHOT: Call<Fenced<{ readonly seq: number }>, boolean> = {
  statement: { name: "holdfast.snapshot", text: sql.SNAPSHOT },
  encode: ({ take, seq }) => [...fence(take), `${seq}`],
  decode: isApplied,
};

/**
 * Makes one batch of those behind `after` that the snapshot covers. Returns where it ends; undefined: there are
 * none.
 */
export const MERGE: Call<Fenced<{ readonly after: number }>, number | undefined> = {
  statement: { name: "holdfast.merge", text: sql.MERGE },
  encode: ({ take, after }) => [...fence(take), `${after}`],
  decode: ([row]) => row && integer(row[0]),
};

export const PUT: Call<Fenced<{ readonly part: BlobPart }>, boolean> = {
  statement: { name: "holdfast.put", text: sql.PUT },
  encode: ({ take, part: { path, seq, part, parts, hash, bytes } }) => [
    ...[...fence(take), path, `${seq}`, `${part}`, `${parts}`, hash, bytes],
  ],
  decode: isApplied,
};

/** Removes what is older than `seq`, which must be whole. */
export const TIDY: Call<Fenced<{ readonly path: string; readonly seq: number }>, void> = {
  statement: { name: "holdfast.tidy", text: sql.TIDY },
  encode: ({ take, path, seq }) => [...fence(take), path, `${seq}`],
  decode: () => undefined,
};

/** The parts of the newest blob that is whole. */
export const GET: Call<{ readonly home: string; readonly path: string }, readonly Omit<BlobPart, "path">[]> = {
  statement: { name: "holdfast.get", text: sql.GET },
  encode: ({ home, path }) => [home, path],
  decode: (rows) =>
    rows.map(([seq, part, parts, hash, it]) => ({
      ...{ seq: integer(seq), part: integer(part), parts: integer(parts), hash: bytes(hash), bytes: bytes(it) },
    })),
};

/** How many bytes of batches are behind the snapshot. */
export const BACKLOG: Call<string, number> = {
  statement: { name: "holdfast.backlog", text: sql.BACKLOG },
  encode: (home) => [home],
  decode: (rows) => integer(only(rows)[0]),
};

/** `newest`: the highest seq that something was stored of. */
export type BlobRow = { readonly path: string; readonly newest: number; readonly whole: WholeBlob | undefined };
/** The newest one that is whole. `mark`: see `FleetSeal.markOf`. */
export type WholeBlob = {
  readonly seq: number;
  /** SHA-256 of its bytes, in hex digits. */
  readonly hash: string;
  readonly mark: string;
  readonly size: number;
};

/** The blobs of a home whose paths are behind `after`. None: that is the end. */
export const LIST: Call<{ readonly home: string; readonly after: string }, readonly BlobRow[]> = {
  statement: { name: "holdfast.list", text: sql.LIST },
  encode: ({ home, after }) => [home, after],
  decode: (rows) =>
    rows.map(([path, newest, seq, hash, mark, size]) => ({
      ...{ path: text(path), newest: integer(newest) },
      whole:
        integer(seq) < 0
          ? undefined
          : { seq: integer(seq), hash: bytes(hash).toHex(), mark: bytes(mark).toHex(), size: integer(size) },
    })),
};

/** Removes all that is stored under a path. False: the home is not ours. */
export const DROP: Call<Fenced<{ readonly path: string }>, boolean> = {
  statement: { name: "holdfast.drop", text: sql.DROP },
  encode: ({ take, path }) => [...fence(take), path],
  decode: isApplied,
};

/** This host is there. */
export const ANNOUNCE: Call<Omit<HostRow, "agoMs">, void> = {
  statement: { name: "holdfast.announce", text: sql.ANNOUNCE },
  encode: ({ id, name, labels, capacity, version, address, takes }) => [
    ...[id, name, labels.join("\n"), `${capacity}`, version, address, takes.join("\n")],
  ],
  decode: () => undefined,
};

export const HOSTS: Call<undefined, readonly HostRow[]> = {
  statement: { name: "holdfast.hosts", text: sql.HOSTS },
  encode: () => [],
  decode: (rows) =>
    rows.map(([id, name, labels, capacity, version, address, takes, ago]) => ({
      ...{ id: text(id), name: text(name), labels: words(labels), capacity: integer(capacity) },
      ...{ version: text(version), address: text(address), takes: words(takes) },
      agoMs: integer(ago),
    })),
};

function words(value: PostgresValue | undefined): readonly string[] {
  return text(value).split("\n").filter(Boolean);
}

/** All homes in one answer: so that watching a thousand of them is one statement. */
export const HOMES: Call<undefined, readonly WatchedRow[]> = {
  statement: { name: "holdfast.homes", text: sql.HOMES },
  encode: () => [],
  decode: (rows) =>
    rows.map(([id, name, take, epoch, owner, host, left, end, lastSeq, snapshot, takeover, moveTo]) => ({
      ...{ id: text(id), name: text(name), take: text(take), epoch: integer(epoch), owner: text(owner) },
      ...{ host: text(host), leaseMs: integer(left), leaseEnd: text(end), lastSeq: integer(lastSeq) },
      ...{ snapshot: integer(snapshot), takeover: text(takeover), moveTo: text(moveTo) },
    })),
};

/** What others see of a home. `name`: if it has none yet; `host`: the id of the host that it is on. */
export const DESCRIBE: Call<
  Fenced<{ readonly name: string; readonly takeover: string; readonly host: string }>,
  boolean
> = {
  statement: { name: "holdfast.describe", text: sql.DESCRIBE },
  encode: ({ take, name, takeover, host }) => [...fence(take), name, takeover, host],
  decode: isApplied,
};

/** The owner gives the lease back: it was stopped on purpose, and nobody takes the home unless it is to move there. */
export const RELEASE: Call<Fenced<unknown>, boolean> = {
  statement: { name: "holdfast.release", text: sql.RELEASE },
  encode: ({ take }) => fence(take),
  decode: isApplied,
};

/** An operator's wish, whoever owns the home. `host`: empty takes it back. False: there is no such home. */
export const MOVE_TO: Call<{ readonly home: string; readonly host: string }, boolean> = {
  statement: { name: "holdfast.move-to", text: sql.MOVE_TO },
  encode: ({ home, host }) => [home, host],
  decode: isApplied,
};

/** For people: if it is sent again, it is there twice. */
export const EVENT: Call<FleetEvent, void> = {
  statement: { name: "holdfast.event", text: sql.EVENT },
  encode: ({ home, host, kind, words }) => [home, host, kind, words],
  decode: () => undefined,
};

/** The next 500 events behind `after`. `at`: milliseconds since the epoch, by the clock of the database. */
export const EVENTS: Call<
  { readonly after: number },
  readonly (FleetEvent & { readonly n: number; readonly at: number })[]
> = {
  statement: { name: "holdfast.events", text: sql.EVENTS },
  encode: ({ after }) => [`${after}`],
  decode: (rows) =>
    rows.map(([n, at, home, host, kind, words]) => ({
      ...{ n: integer(n), at: integer(at), home: text(home), host: text(host), kind: text(kind), words: text(words) },
    })),
};

/** Whether other hosts may take the home by themselves, `auto` or `manual`, and its name, if it has none yet. */
export const TAKEOVER: Call<Fenced<{ readonly takeover: string; readonly name: string }>, boolean> = {
  statement: { name: "holdfast.takeover", text: sql.TAKEOVER },
  encode: ({ take, takeover, name }) => [...fence(take), takeover, name],
  decode: isApplied,
};

/** `synchronous`: the standbys that commits wait for; `now`: in milliseconds since the epoch. */
export type ServerMode = { readonly synchronous: string; readonly commit: string; readonly now: number };
export const MODE: Call<undefined, ServerMode> = {
  statement: { name: "holdfast.mode", text: sql.MODE },
  encode: () => [],
  decode: (rows) => {
    const [synchronous, commit, now] = only(rows);
    return { synchronous: text(synchronous), commit: text(commit), now: integer(now) };
  },
};

/** How many standbys are connected to the server now. */
export const STANDBYS: Call<undefined, number> = {
  statement: { name: "holdfast.standbys", text: sql.STANDBYS },
  encode: () => [],
  decode: (rows) => integer(only(rows)[0]),
};

/** CA1 */
export function fence({ home, epoch, id }: Take): readonly string[] {
  return [home, `${epoch}`, id];
}
