// Reads what the homes of a fleet show of themselves. Loaded only where there is a fleet (WF3 of fleet.ts).
// FR1. What homes say of themselves is sealed by the fleet's key, the addresses of their pages among it. Their names,
//      hosts and leases are as the database says them: they are shown, and lead nowhere.
// FR2. The page of a home on this machine has an address that its own files say, if they are really that home's.
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { pageAddress } from "../core/fleet/page-address.ts";
import { isOver } from "../core/fleet/queue.ts";
import { HOSTS, type HostRow } from "../fleet/calls.ts";
import { Database } from "../fleet/database.ts";
import { type HomeListing, LISTING_OLD_MS, readListings } from "../fleet/listings.ts";
import { FleetSeal } from "../fleet/seal.ts";
import { postgresTarget } from "../fleet/target.ts";
import { readHostId } from "../home/fleet-host.ts";
import { idOf } from "../home/identity.ts";
import { WEB_ADDRESS } from "../home/layout.ts";
import { readJson } from "../log/file/json-file.ts";
import type { Config } from "../wire/files/config-schema.ts";
import type { Listing } from "../wire/fleet/listing.ts";
import type { FleetHome, WebFleetHome } from "../wire/page/messages.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Random } from "../world/random.ts";
import { realPostgres } from "../world/real/postgres/client.ts";
import type { Self } from "../world/self.ts";

export type FleetWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly self: Self;
  readonly home: string;
  /** Undefined: this host is in no fleet. */
  fleet(): Config["fleet"] | undefined;
};

/** A person waits for it. */
const CONNECT_MS = 3_000;
const CALL_MS = 5_000;
const LOOPBACK = /^http:\/\/127\.0\.0\.1:\d{1,5}\/$/;

export type HomeSeen = Omit<WebFleetHome, "at">;

/** WF1 of fleet.ts */
const AWAY = refused(
  "fleet-away",
  "The database of the fleet does not answer.",
  "`holdfast fleet status` says why; `holdfast doctor` what to do.",
);

export class FleetReader {
  readonly #world: FleetWorld;
  readonly #database: Database;
  readonly #seal: FleetSeal;
  readonly #homes: string;

  static of(world: FleetWorld, config: Config["fleet"]): Result<FleetReader> {
    const target = postgresTarget(config.url, { disk: world.disk, environment: world.self.environment() });
    const seal = FleetSeal.read(world, config.keyFile);
    if (!target.ok || !seal.ok)
      return refused("fleet-config", "This host cannot use its fleet.", "`holdfast doctor` says what is wrong.");
    const connectTimeoutMs = Math.min(target.value.connectTimeoutMs, CONNECT_MS);
    const ports = { postgres: realPostgres(), target: { ...target.value, connectTimeoutMs }, clock: world.clock };
    return ok(new FleetReader(world, new Database(ports, CALL_MS), seal.value, config.homes));
  }

  private constructor(world: FleetWorld, database: Database, seal: FleetSeal, homes: string) {
    this.#world = world;
    this.#database = database;
    this.#seal = seal;
    this.#homes = homes;
  }

  close(): void {
    this.#database.drop();
  }

  async look(): Promise<Result<readonly HomeSeen[]>> {
    const listings = await readListings(this.#database, this.#seal);
    const hosts = await this.#database.call(HOSTS, undefined);
    if (!listings.ok || hosts.kind !== "done") return AWAY;
    const { disk, home } = this.#world;
    const here = idOf({ disk, home });
    const host = readHostId({ disk, homes: this.#homes });
    const byId = new Map(hosts.value.map((row) => [row.id, row]));
    return ok(listings.value.map((row) => this.#seen(row, byId.get(row.hostId), { here, host })));
  }

  #seen(row: HomeListing, host: HostRow | undefined, us: { here: string | undefined; host: string | undefined }) {
    const { home, name, owner, hostId, leaseMs, ageMs, listing } = row;
    const ago = (ms: number | undefined) =>
      ms === undefined ? null : new Date(this.#world.clock.now() - ms).toISOString();
    const isHere = home === us.here;
    const isNear = us.host !== undefined && hostId === us.host;
    return {
      ...{ id: home, name: name || home, host: owner, isHere, isNear, isLive: leaseMs > 0 },
      ...{ seenAt: ago(host?.agoMs), listedAt: ago(ageMs), isOld: (ageMs ?? 0) > LISTING_OLD_MS },
      why: row.why ?? null,
      counts: listing === undefined ? null : countsOf(listing),
      page: (isHere && isNear ? undefined : pageAddress(listing?.page ?? "", name)) ?? null, // It would be this one.
      nearPage: isNear && !isHere && listing !== undefined ? this.#nearPage(home, listing.directory) : null,
      listing: listing === undefined ? null : rowsOf(listing),
    };
  }

  /** FR2 */
  #nearPage(id: string, directory: string): string | null {
    const { disk } = this.#world;
    try {
      if (idOf({ disk, home: directory }) !== id) return null;
      const url = readJson(disk, joinPath(directory, WEB_ADDRESS))?.["url"];
      return typeof url === "string" && LOOPBACK.test(url) ? url : null;
    } catch (error) {
      if (!isFault(error)) throw error;
      return null;
    }
  }
}

function countsOf({ terminals, runs, agents, prompts, more }: Listing): NonNullable<FleetHome["counts"]> {
  return {
    terminals: terminals.filter(({ state }) => state.kind !== "ended").length,
    runs: runs.filter(({ state }) => !isOver(state)).length,
    agents: agents.filter(({ state }) => !isOver(state)).length,
    prompts: prompts.length + more.prompts,
  };
}

function rowsOf({ terminals, runs, agents, prompts, more }: Listing): WebFleetHome["listing"] {
  return { terminals, runs, agents, prompts, more };
}
