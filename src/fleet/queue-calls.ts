// The statements of the fleet's queue. Like those in calls.ts (CA1 … CA3), except that a claim that is sent again
// claims another item: what this home has claimed is read before anything is concluded (daemon/fleet/queue.ts, QU2).
import type { PostgresRow } from "../world/postgres.ts";
import { type Call, type Fenced, fence } from "./calls.ts";
import { bytes, integer, isApplied, only, text } from "./rows.ts";
import * as sql from "./sql.ts";

export type QueueKind = "run" | "agent";
/** Work for any host of the fleet. `bytes`: the sealed request. */
export type QueueItem = {
  readonly id: string;
  /** The id of the home that asks for it. */
  readonly asker: string;
  readonly kind: string;
  readonly bytes: Uint8Array;
};
export type QueueRow = Omit<QueueItem, "bytes"> & {
  readonly n: number;
  /** Milliseconds since the epoch, by the clock of the database. */
  readonly at: number;
  readonly labels: readonly string[];
  readonly state: string;
  /** The home that has claimed it, and the name of its host; empty: none has. */
  readonly home: string;
  readonly host: string;
  readonly words: string;
};

/** Returns its number, also if it is there. */
export const ENQUEUE: Call<
  Omit<QueueItem, "kind"> & { readonly kind: QueueKind; readonly labels: readonly string[] },
  number
> = {
  statement: { name: "holdfast.enqueue", text: sql.ENQUEUE },
  encode: ({ id, asker, kind, labels, bytes: it }) => [id, asker, kind, labels.join("\n"), it],
  decode: (rows) => integer(only(rows)[0]),
};

/** If it is sent again, it claims another item: `CLAIMED` has all. Undefined: there is none, or it is not ours. */
export const CLAIM: Call<
  Fenced<{ readonly host: string; readonly labels: readonly string[] }>,
  QueueItem | undefined
> = {
  statement: { name: "holdfast.claim", text: sql.CLAIM },
  encode: ({ take, host, labels }) => [...fence(take), host, labels.join("\n")],
  decode: ([row]) => row && itemIn(row),
};

/** What this home has claimed and not finished, under whatever epoch. It is claimed under the present one then. */
export const CLAIMED: Call<Fenced<{ readonly host: string }>, readonly QueueItem[]> = {
  statement: { name: "holdfast.claimed", text: sql.CLAIMED },
  encode: ({ take, host }) => [...fence(take), host],
  decode: (rows) => rows.map(itemIn),
};

/** False: it is not this home's. */
export const FINISH: Call<
  Fenced<{ readonly id: string; readonly state: "done" | "failed"; readonly words: string }>,
  boolean
> = {
  statement: { name: "holdfast.finish", text: sql.FINISH },
  encode: ({ take, id, state, words }) => [...fence(take), id, state, words],
  decode: isApplied,
};

/** The next 500 behind `after`. */
export const QUEUE: Call<{ readonly after: number }, readonly QueueRow[]> = {
  statement: { name: "holdfast.queue", text: sql.QUEUE },
  encode: ({ after }) => [`${after}`],
  decode: (rows) =>
    rows.map(([n, id, at, asker, kind, labels, state, home, host, words]) => ({
      ...{ n: integer(n), id: text(id), at: integer(at), asker: text(asker), kind: text(kind) },
      ...{ labels: text(labels).split("\n").filter(Boolean), state: text(state), home: text(home) },
      ...{ host: text(host), words: text(words) },
    })),
};

/** Only what no home has claimed. False: it is claimed, over, or not there. */
export const CANCEL: Call<string, boolean> = {
  statement: { name: "holdfast.cancel", text: sql.CANCEL },
  encode: (id) => [id],
  decode: isApplied,
};

function itemIn([id, asker, kind, it]: PostgresRow): QueueItem {
  return { id: text(id), asker: text(asker), kind: text(kind), bytes: bytes(it) };
}
