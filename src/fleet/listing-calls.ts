// The statements of what homes show of themselves to the other hosts. Like those in calls.ts (CA1 … CA3).
import { type Call, type Fenced, fence } from "./calls.ts";
import { bytes, integer, isApplied, text } from "./rows.ts";
import * as sql from "./sql.ts";

export type ListingRow = {
  readonly home: string;
  readonly name: string;
  /** The name and the id of the host that has it. */
  readonly owner: string;
  readonly hostId: string;
  /** Until the lease of the home ends; 0 if it has ended. */
  readonly leaseMs: number;
  /** Since the listing was stored; undefined: there is none. */
  readonly ageMs: number | undefined;
  /** Sealed. */
  readonly bytes: Uint8Array;
};

/** Replaces the listing of a home. False: it is not ours. */
export const LIST_HOME: Call<Fenced<{ readonly bytes: Uint8Array }>, boolean> = {
  statement: { name: "holdfast.list-home", text: sql.LIST_HOME },
  encode: ({ take, bytes: it }) => [...fence(take), it],
  decode: isApplied,
};

/** The next homes behind `after`, by their ids; none: that is the end. */
export const LISTINGS: Call<{ readonly after: string }, readonly ListingRow[]> = {
  statement: { name: "holdfast.listings", text: sql.LISTINGS },
  encode: ({ after }) => [after],
  decode: (rows) =>
    rows.map(([home, name, owner, hostId, lease, age, it]) => ({
      ...{ home: text(home), name: text(name), owner: text(owner), hostId: text(hostId) },
      ...{ leaseMs: integer(lease), ageMs: integer(age) < 0 ? undefined : integer(age), bytes: bytes(it) },
    })),
};
