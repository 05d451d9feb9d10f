// A home of a fleet on a benchmark's server: its configuration, the fleet's key, and a home's log without its programs.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ENROL, type Take } from "../src/fleet/calls.ts";
import { Database } from "../src/fleet/database.ts";
import { RemoteLog } from "../src/fleet/remote-log.ts";
import { FleetSeal } from "../src/fleet/seal.ts";
import { takeHome } from "../src/fleet/take.ts";
import { postgresTarget } from "../src/fleet/target.ts";
import type { PostgresTarget } from "../src/world/postgres.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { realPostgres } from "../src/world/real/postgres/client.ts";
import { realRandom } from "../src/world/real/random.ts";
import type { Postgres } from "./postgres.ts";

const LEASE_S = 3;
/** Of a log that nothing renews. */
export const LEASE_MS = 60_000;

/** As the URL of `[fleet]` names the server. */
export function fleetUrl({ place }: Postgres): string {
  return `postgres://postgres@/postgres?host=${encodeURIComponent(place)}`;
}

/** `place`: a directory that all hosts of the fleet can read. */
export function newFleetKey(place: string): string {
  const file = join(place, "fleet.key");
  writeFileSync(file, FleetSeal.newFile(realRandom()), { mode: 0o600 });
  return file;
}

export type FleetPlace = { readonly postgres: Postgres; readonly key: string; readonly homes: string };

/** The section of a host's configuration. */
export function fleetSection(host: string, { postgres, key, homes }: FleetPlace, more: object = {}): string {
  const settings = { url: fleetUrl(postgres), key_file: key, host, homes, lease_s: LEASE_S, ...more };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
  return `[fleet]\n${lines.join("")}`;
}

export function targetOf(postgres: Postgres): PostgresTarget {
  return wanted(postgresTarget(fleetUrl(postgres), { disk: realDisk(), environment: {} }));
}

export function databaseOn(postgres: Postgres, connections = realPostgres()): Database {
  return new Database({ postgres: connections, target: targetOf(postgres), clock: realClock() });
}

export function wanted<T>(result: { ok: true; value: T } | { ok: false; error: { message: string } }): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

export type TakenLog = { readonly log: RemoteLog; readonly take: Take; readonly database: Database };

/** The log of a new home, which is taken. */
export async function logOf(home: string, database: Database, leaseMs = LEASE_MS): Promise<TakenLog> {
  const ports = { database, clock: realClock(), random: realRandom(), troubled: () => undefined };
  await database.call(ENROL, { home, lastSeq: 0 });
  const take: Take = { home, epoch: 1, id: home };
  const own = wanted(
    await takeHome({ ...ports, isWanted: () => true }, { take, owner: "bench", leaseMs, ifExpired: true }),
  );
  return { log: new RemoteLog(ports, own), take, database };
}
