// Two hosts of a fleet on one machine, A and B, with a home each, and their PostgreSQL.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listBlobs } from "../../src/fleet/blobs.ts";
import { HOMES, type WatchedRow } from "../../src/fleet/calls.ts";
import type { Database } from "../../src/fleet/database.ts";
import { initDatabase } from "../../src/fleet/schema.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { databaseAt } from "../fleet/server.ts";
import { PATIENCE_MS, until } from "../until.ts";
import { Host, type HostOptions } from "./host.ts";

/** A round of shipping that took long is followed by a long pause. */
const SHIP_MS = 5 * PATIENCE_MS;

export class TwoHosts {
  readonly a: Host;
  readonly b: Host;
  /** A directory that both have. */
  readonly place: string;
  readonly look: Database;

  /** Up, and known to the fleet. `ofB`: more settings of B. */
  static async start(url: string, ofB: object, options: HostOptions & { within?: string } = {}): Promise<TwoHosts> {
    const hosts = new TwoHosts(url, ofB, options);
    await initDatabase(hosts.look);
    for (const host of hosts.all) await host.must("up", "--home", host.home);
    for (const host of hosts.all) await hosts.named(`${host.name}-work`);
    return hosts;
  }

  private constructor(url: string, ofB: object, { within = tmpdir(), ...options }: HostOptions & { within?: string }) {
    this.look = databaseAt(url);
    this.place = mkdtempSync(join(within, "hf-hosts-"));
    const key = join(this.place, "fleet.key");
    writeFileSync(key, FleetSeal.newFile(realRandom()), { mode: 0o600 });
    const settings = { url, key_file: key };
    this.a = new Host(this.place, "host-a", settings, options);
    this.b = new Host(this.place, "host-b", { ...settings, ...ofB }, options);
  }

  get all(): readonly [Host, Host] {
    return [this.a, this.b];
  }

  log(): readonly string[] {
    return this.all.map((host) => host.log());
  }

  async row(name: string): Promise<WatchedRow | undefined> {
    const answer = await this.look.call(HOMES, undefined);
    return answer.kind === "done" ? answer.value.find((home) => home.name === name) : undefined;
  }

  named(name: string): Promise<WatchedRow> {
    return until(
      `${name} is in the fleet`,
      () => this.row(name),
      () => this.log(),
    );
  }

  /** So many blobs of A's home with such a name are in the database. */
  async hasShipped(name: RegExp, count: number): Promise<void> {
    const { id } = await this.named("host-a-work");
    const found = async () => {
      const rows = await listBlobs(this.look, id);
      return rows.ok ? rows.value.filter(({ path, whole }) => whole !== undefined && name.test(path)) : [];
    };
    await until(`${count} of ${name} are shipped`, async () => (await found()).length >= count, found, SHIP_MS);
  }

  async isTaken(): Promise<void> {
    await until(
      "it is taken",
      async () => (await this.row("host-a-work"))?.owner === "host-b",
      async () => [await this.row("host-a-work"), this.b.log()],
    );
  }

  async end(): Promise<void> {
    for (const host of this.all) await host.die();
    this.look.drop();
    rmSync(this.place, { recursive: true, force: true });
  }
}
