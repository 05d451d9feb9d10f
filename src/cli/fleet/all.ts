// `--all`: the lists of all homes of the fleet, of this one by its daemon and of the others by what they say of
// themselves in the database (fleet/listings.ts).
// AL1. No other daemon is asked, so a host that is away or busy keeps nobody waiting. How old its list is, is said.
// AL2. A home that cannot be read is named, and the others are shown. If the database is away, so is this one home.
import { joinPath } from "../../base/path.ts";
import { ok, type Result } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { labelsOf } from "../../core/fleet/where.ts";
import { type HomeListing, LISTING_OLD_MS, readListings } from "../../fleet/listings.ts";
import { FleetSeal } from "../../fleet/seal.ts";
import { IDENTITY } from "../../home/layout.ts";
import { readJson } from "../../log/file/json-file.ts";
import type { Listing, ListingKind } from "../../wire/fleet/listing.ts";
import { spanText } from "../agent/row.ts";
import type { CommandWorld } from "../command-world.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { count, printJson, say } from "../print.ts";
import { configured, hostNameOf, onFleet } from "./reach.ts";

/** Where a row is. `ageMs`: of the list that it is from; null: it is of now. */
export type Where = { readonly host: string; readonly home: string; readonly ageMs: number | null };
export type HomeRows<T> = { readonly label: string; readonly where: Where; readonly rows: readonly T[] };

export type ListKind<T> = {
  readonly kind: ListingKind;
  /** Of this home. */
  own(): Promise<Result<readonly T[]>>;
  rows(listing: Listing): readonly T[];
};

/** AL1. Of the homes that can be read; what is wrong with others is said on stderr. */
export async function everywhere<T>(
  world: DaemonCommandWorld,
  home: string,
  list: ListKind<T>,
): Promise<Result<readonly HomeRows<T>[]>> {
  const [own, fleet] = await Promise.all([list.own(), listingsOf(world)]);
  if (!fleet.ok && (fleet.error.code === "no-fleet" || !own.ok)) return fleet;
  if (!fleet.ok) await say(world.console, `${fleet.error.message} This is this home alone.`); // AL2
  const id = ownId(world, home);
  const listings = fleet.ok ? fleet.value : [];
  const isOwn = (row: HomeListing) => row.home === id && own.ok;
  if (!own.ok) await say(world.console, `this home: ${own.error.message}`);
  const labels = labelsOf(listings);
  const found: HomeRows<T>[] = [];
  const mine = listings.find(isOwn);
  if (own.ok) found.push({ ...ownPlace(world, mine, labels), rows: own.value });
  for (const row of listings.filter((other) => !isOwn(other))) {
    const label = labels.get(row.home) ?? row.owner;
    for (const words of remarks(label, row, list.kind)) await say(world.console, visibleLine(words)); // AL2
    const where = { host: row.owner, home: row.name, ageMs: row.ageMs ?? null };
    if (row.listing !== undefined) found.push({ label, where, rows: list.rows(row.listing) });
  }
  return ok(found.toSorted((a, b) => (a.label < b.label ? -1 : Number(a.label > b.label))));
}

/** Without the key nothing of it can be read. */
export function listingsOf(world: DaemonCommandWorld): Promise<Result<readonly HomeListing[]>> {
  return onFleet(world, async ({ database, config }) => {
    const seal = FleetSeal.read(world, config.keyFile);
    return seal.ok ? readListings(database, seal.value) : seal;
  });
}

/** In the fleet; undefined if it was never started. */
export function ownId({ disk }: CommandWorld, home: string): string | undefined {
  const id = readJson(disk, joinPath(home, IDENTITY))?.["id"];
  return typeof id === "string" ? id : undefined;
}

function ownPlace(world: CommandWorld, row: HomeListing | undefined, labels: ReadonlyMap<string, string>) {
  const config = configured(world);
  const host = row?.owner ?? (config.ok ? hostNameOf(config.value) : "");
  const label = (row === undefined ? undefined : labels.get(row.home)) ?? host;
  return { label, where: { host, home: row?.name ?? host, ageMs: null } };
}

function remarks(label: string, { listing, why, ageMs = 0, leaseMs }: HomeListing, kind: ListingKind): string[] {
  if (listing === undefined) return [`${label} is not shown: ${why}.`];
  const more = listing.more[kind];
  const isOld = leaseMs === 0 || ageMs > LISTING_OLD_MS;
  return [
    ...(isOld
      ? [`${label} ${leaseMs === 0 ? "does not run now" : "is silent"}: this is of ${spanText(ageMs)} ago.`]
      : []),
    ...(more > 0 ? [`${label} has ${count(more, "more row")}; there, all are listed.`] : []),
  ];
}

/** The rows of a table, each behind where it is. */
export function behindHosts<T>(homes: readonly HomeRows<T>[], cells: (row: T, isHere: boolean) => readonly string[]) {
  return homes.flatMap(({ label, where, rows }) =>
    rows.map((row) => [label, ...cells(row, where.ageMs === null)].map(visibleLine)),
  );
}

export function printAllJson<T>(
  { console }: CommandWorld,
  homes: readonly HomeRows<T>[],
  json: (rows: readonly T[]) => readonly object[],
): Promise<void> {
  return printJson(
    console,
    homes.flatMap(({ where, rows }) => json(rows).map((row) => ({ ...row, ...where }))),
  );
}
