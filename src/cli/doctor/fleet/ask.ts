// What the checks of the fleet ask the database, in one go and within a few seconds.
// FA1. It only looks (DD1 of doctor.ts): tables are neither made nor brought up to date, and no home is touched.
// FA2. What the fleet's key should open is fetched, and opened here: the last batch of our own home and of some others.
import { ok, type Result, refused } from "../../../base/result.ts";
import { type Batch, HOMES, HOSTS, type HostRow, READ, STANDBYS, type WatchedRow } from "../../../fleet/calls.ts";
import { Database } from "../../../fleet/database.ts";
import { schemaOf } from "../../../fleet/schema.ts";
import type { PostgresTarget } from "../../../world/postgres.ts";
import { realPostgres } from "../../../world/real/postgres/client.ts";
import { within } from "../../../world/wait.ts";
import { answered } from "../../fleet/reach.ts";
import { type SeenMode, serverMode } from "../../fleet/server-mode.ts";
import type { Site } from "../check.ts";

/** For one server; the page gives up `doctor` after 20 s. */
const CONNECT_MS = 3_000;
const CALL_MS = 3_000;
const ALL_MS = 10_000;
/** The fastest of so many: the latency of the network, not of what else the machine does. */
const TRIES = 3;
/** FA2. Of other homes: a key that opens so many is the fleet's. */
const MAX_OPENED = 8;

export type Asked = SeenMode & {
  /** Which server answered. */
  readonly at: string;
  readonly schema: Result<number>;
  /** What follows is empty if the tables are not as they should be. */
  readonly standbys: number;
  readonly homes: readonly WatchedRow[];
  readonly hosts: readonly HostRow[];
  /** FA2. By the ids of the homes. */
  readonly batches: ReadonlyMap<string, Batch>;
};

export async function askDatabase(site: Site, target: PostgresTarget, home: string): Promise<Result<Asked>> {
  const { clock } = site.world;
  const connectTimeoutMs = Math.min(target.connectTimeoutMs, CONNECT_MS);
  const database = new Database({ postgres: realPostgres(), target: { ...target, connectTimeoutMs }, clock }, CALL_MS);
  try {
    const asked = await within(clock, ALL_MS, ask(site, database, home));
    return asked ?? refused("fleet-away", `No answer within ${ALL_MS / 1_000} s.`, "holdfast fleet status");
  } finally {
    database.drop();
  }
}

async function ask({ world }: Site, database: Database, home: string): Promise<Result<Asked>> {
  let best = await serverMode(world.clock, database);
  for (let tries = 1; best.ok && tries < TRIES; tries++) {
    const next = await serverMode(world.clock, database);
    if (!next.ok || next.value.tookMs < best.value.tookMs) best = next;
  }
  if (!best.ok) return best;
  const standbys = answered(await database.call(STANDBYS, undefined));
  if (!standbys.ok) return standbys;
  const schema = await schemaOf(database);
  const base = { ...best.value, at: database.host ?? "", schema, standbys: standbys.value };
  if (!schema.ok) return ok({ ...base, homes: [], hosts: [], batches: new Map() });
  const [homes, hosts] = [
    answered(await database.call(HOMES, undefined)),
    answered(await database.call(HOSTS, undefined)),
  ];
  if (!homes.ok) return homes;
  if (!hosts.ok) return hosts;
  const batches = await lastBatches(database, homes.value, home);
  return batches.ok ? ok({ ...base, homes: homes.value, hosts: hosts.value, batches: batches.value }) : batches;
}

/** FA2 */
async function lastBatches(
  database: Database,
  homes: readonly WatchedRow[],
  own: string,
): Promise<Result<ReadonlyMap<string, Batch>>> {
  const some = homes.toSorted((a, b) => Number(b.id === own) - Number(a.id === own)).slice(0, MAX_OPENED);
  const found = new Map<string, Batch>();
  for (const { id, lastSeq } of some) {
    const rows = answered(await database.call(READ, { home: id, after: lastSeq - 1 }));
    if (!rows.ok) return rows;
    const last = rows.value.at(-1);
    if (last !== undefined) found.set(id, last);
  }
  return ok(found);
}
