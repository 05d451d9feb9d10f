// The database of the demonstrated fleet, as it is watched from outside of all hosts.
import { assert } from "../../base/assert.ts";
import { EVENTS, type FleetEvent, HOMES, LIST, type WatchedRow } from "../../fleet/calls.ts";
import { Database } from "../../fleet/database.ts";
import { postgresTarget } from "../../fleet/target.ts";
import type { Clock } from "../../world/clock.ts";
import { realPostgres } from "../../world/real/postgres/client.ts";
import { until } from "../going.ts";
import type { DrillWorld } from "../site.ts";

/** Between two looks: hosts that are watched too closely have less time to do what they are watched for. */
const LOOK_MS = 40;

/** Looks again and again; undefined if what it looks for does not come. */
export function seen<T>(
  clock: Clock,
  ms: number,
  look: () => Promise<T | undefined> | T | undefined,
): Promise<T | undefined> {
  return until(clock, ms, look, LOOK_MS);
}

/** `url`: without a password. */
export function databaseAt({ disk, clock }: DrillWorld, url: string): Database {
  const target = postgresTarget(url, { disk, environment: {} });
  assert(target.ok, "we have made the URL ourselves");
  return new Database({ postgres: realPostgres(), target: target.value, clock });
}

export class FleetLook {
  readonly #database: Database;
  #seen = 0;

  constructor(world: DrillWorld, url: string) {
    this.#database = databaseAt(world, url);
  }

  /** Those that it knows; none if it does not answer. */
  async homes(): Promise<readonly WatchedRow[]> {
    const homes = await this.#database.call(HOMES, undefined);
    return homes.kind === "done" ? homes.value : [];
  }

  async home(name: string): Promise<WatchedRow | undefined> {
    return (await this.homes()).find((home) => home.name === name);
  }

  /** What has happened since it was asked last. */
  async events(): Promise<readonly FleetEvent[]> {
    const events = await this.#database.call(EVENTS, { after: this.#seen });
    if (events.kind !== "done") return [];
    this.#seen = events.value.at(-1)?.n ?? this.#seen;
    return events.value;
  }

  /** The files of a home that are there as a whole. */
  async files(home: string): Promise<readonly string[]> {
    const listed = await this.#database.call(LIST, { home, after: "" });
    return listed.kind === "done" ? listed.value.flatMap(({ path, whole }) => (whole === undefined ? [] : path)) : [];
  }

  close(): void {
    this.#database.drop();
  }
}
