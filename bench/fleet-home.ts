// A home of a fleet on a benchmark's server: its configuration, and the fleet's key.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { FleetSeal } from "../src/fleet/seal.ts";
import { realRandom } from "../src/world/real/random.ts";
import type { Postgres } from "./postgres.ts";

export const LEASE_S = 3;

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
