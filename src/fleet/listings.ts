// What the homes of a fleet show of themselves: stored by their owners, read by all, without a word to any of them.
// FL1. A listing is sealed for its home. One that does not open, or that a newer version wrote, is the trouble of that
//      home alone: the others are read.
import { ok, type Result } from "../base/result.ts";
import { encodeListing, type Listing, parseListing } from "../wire/fleet/listing.ts";
import { pack, unpack } from "./blob-form.ts";
import type { Take } from "./calls.ts";
import type { Database } from "./database.ts";
import { noAnswer } from "./history.ts";
import { LIST_HOME, LISTINGS, type ListingRow } from "./listing-calls.ts";
import type { FleetSeal } from "./seal.ts";

/** A home of the fleet as the others see it. */
export type HomeListing = Omit<ListingRow, "bytes"> & {
  readonly listing: Listing | undefined;
  /** Why there is none. */
  readonly why: string | undefined;
};

/** An owner stores its listing again after this long, also if nothing has changed: so an old one is of no use. */
export const LISTING_RENEWED_MS = 60_000;
/** The listing may not say what is there now: its host, or its standby program, has been silent for too long. */
export const LISTING_OLD_MS = 2 * LISTING_RENEWED_MS + 30_000;

/** False: another host has the home. */
export async function putListing(
  { database, seal }: { readonly database: Database; readonly seal: FleetSeal },
  take: Take,
  listing: Listing,
): Promise<Result<boolean>> {
  const bytes = seal.note(noteOf(take.home), pack(encodeListing(listing)));
  const answer = await database.call(LIST_HOME, { take, bytes });
  return answer.kind === "done" ? ok(answer.value) : noAnswer(answer);
}

/** Of all homes of the fleet, by their ids. One statement, unless they are very many. */
export async function readListings(database: Database, seal: FleetSeal): Promise<Result<readonly HomeListing[]>> {
  const homes: HomeListing[] = [];
  for (;;) {
    const answer = await database.call(LISTINGS, { after: homes.at(-1)?.home ?? "" });
    if (answer.kind !== "done") return noAnswer(answer);
    if (answer.value.length === 0) return ok(homes);
    homes.push(...answer.value.map((row) => opened(seal, row)));
  }
}

/** FL1 */
function opened(seal: FleetSeal, { bytes, ...row }: ListingRow): HomeListing {
  const without = (why: string) => ({ ...row, listing: undefined, why });
  if (row.ageMs === undefined) return without("it has not said yet what it has");
  const packed = seal.openNote(noteOf(row.home), bytes);
  if (!packed.ok) return without(packed.error.message);
  const plain = unpack(`The listing of ${row.home}`, packed.value);
  const listing = plain.ok ? parseListing(plain.value) : undefined;
  return listing === undefined ? without("a newer version of Holdfast wrote it") : { ...row, listing, why: undefined };
}

function noteOf(home: string): readonly string[] {
  return ["listing", home];
}
