// Three hosts, two databases, relays between them, and who works there.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FleetSeal } from "../../../src/fleet/seal.ts";
import { readOwner } from "../../../src/home/fleet-files.ts";
import { realDisk } from "../../../src/world/real/disk.ts";
import { realRandom } from "../../../src/world/real/random.ts";
import type { SimRandom } from "../../sim/random.ts";
import { until } from "../../until.ts";
import { type BatchRow, checkDisks, checkLog, checkSteps, checkWords, type LoggedHome, loggedHome } from "./checks.ts";
import { type At, Client, type HomeRow } from "./clients.ts";
import { Databases } from "./databases.ts";
import { Host, LEASE_S } from "./hosts.ts";
import { GATEWAY, makeNetwork, makeSkew, Node, run } from "./machines.ts";
import { Relay } from "./relay.ts";
import { Ticks } from "./ticks.ts";

const HOSTS = [1, 2, 3];
const DATABASES = [11, 12] as const;
const FIRST_PORT = 7_000;
/** A takeover on a busy machine, one after the other. */
const HEAL_MS = 240_000;
/** Long enough that homes are taken. */
const MAX_TROUBLE_MS = 6 * LEASE_S * 1_000;
const WATCH_MS = 200;
const MAX_UP_S = 1_000_000;

export class Fleet {
  readonly place = mkdtempSync(join(tmpdir(), "hc-"));
  readonly databases: Databases;
  readonly hosts: readonly Host[];
  readonly clients: readonly Client[];
  readonly hasSkew: boolean;
  /** How long a trouble lasts at most. */
  readonly longestMs: number;
  readonly ticks = new Ticks(join(this.place, "ticks"));
  readonly #effects = join(this.place, "effects");
  readonly #key = join(this.place, "fleet.key");
  readonly #random: SimRandom;
  /** By the homes' names. */
  readonly #ids = new Map<string, string>();
  #troubles: Promise<void> = Promise.resolve();

  constructor(random: SimRandom, longestMs = MAX_TROUBLE_MS) {
    this.#random = random;
    this.longestMs = Math.min(longestMs, MAX_TROUBLE_MS);
    chmodSync(this.place, 0o755);
    makeNetwork();
    const nodes = [new Node("dba", DATABASES[0]), new Node("dbb", DATABASES[1])] as const;
    this.databases = new Databases(nodes, this.place);
    writeFileSync(this.#effects, "");
    writeFileSync(this.#key, FleetSeal.newFile(realRandom()), { mode: 0o600 });
    const skewLibrary = makeSkew(this.place);
    this.hasSkew = skewLibrary !== undefined;
    const shared = { place: this.place, skewLibrary, effects: this.#effects, ticks: this.ticks.path, key: this.#key };
    this.hosts = HOSTS.map((number) => {
      const relayOf = (node: Node, at: number) =>
        new Relay({ address: GATEWAY, port: FIRST_PORT + 10 * number + at }, node);
      return new Host({ ...shared, node: new Node(`h${number}`, number), relays: nodes.map(relayOf) });
    });
    const find = (home: string) => this.find(home);
    this.clients = this.hosts.map(({ name }) => new Client(`${name}-work`, random, find));
  }

  async start(): Promise<void> {
    await this.databases.start();
    for (const host of this.hosts) {
      const said = await host.start(this.#random.int(MAX_UP_S));
      if (said.code !== 0) throw new Error(`${host.name}: ${said.err}\n${host.log()}`);
      this.#ids.set(`${host.name}-work`, readOwner({ disk: realDisk(), home: host.home })?.home ?? "");
    }
  }

  async rows(): Promise<HomeRow[]> {
    const lines = await this.databases.primary.sql("select id, owner, take from holdfast.homes", 5_000);
    return lines.map((line) => {
      const [id = "", owner = "", take = ""] = line.split("|");
      return { id, owner, take };
    });
  }

  /** Looks again and again who has which home, until `isOver`. */
  async watch(isOver: () => boolean): Promise<void> {
    const nameOf = (id: string) => [...this.#ids].find(([, one]) => one === id)?.[0];
    while (!isOver()) {
      this.ticks.seen(await this.rows().catch(() => []), nameOf); // Without an answer nothing is seen.
      await Bun.sleep(WATCH_MS);
    }
  }

  /** Where a home is now; undefined: nobody knows. */
  async find(home: string): Promise<At | undefined> {
    const rows = await this.rows().catch(() => []); // The database is troubled.
    const row = rows.find(({ id }) => id === this.#ids.get(home));
    const host = this.hosts.find(({ name }) => name === row?.owner);
    const directory = row === undefined ? undefined : host?.directoryOf(row.take);
    return directory === undefined || host?.machine.isOn !== true ? undefined : { host, home: directory };
  }

  /** When nothing is in its way any more, every home is somewhere, and takes new work. Returns what does not. */
  async heals(): Promise<string[]> {
    const start = performance.now();
    const waiting = this.clients.map(async (client) => {
      const isDone = async () => performance.now() - start > HEAL_MS || (await client.once("terminal"));
      await until(`${client.home} takes new work`, isDone, () => client.lastFailure, 2 * HEAL_MS);
      return performance.now() - start > HEAL_MS ? [`${client.home} takes no new work: ${client.lastFailure}`] : [];
    });
    return (await Promise.all(waiting)).flat();
  }

  /** How often another host took a home, as the fleet's events tell. */
  async takeovers(): Promise<number> {
    const [count] = await this.databases.primary.sql("select count(*) from holdfast.events where kind = 'taken'");
    return Number(count);
  }

  async check(): Promise<string[]> {
    for (const { machine } of this.hosts) await machine.powerOff();
    const homes = await this.#logged();
    const acknowledged = this.clients.flatMap((client) => client.acknowledged);
    const directories = this.hosts.flatMap((host) => host.directories());
    return [
      ...homes.flatMap(({ faults }) => faults),
      ...checkLog(homes, acknowledged),
      ...checkSteps(homes, this.#effects),
      ...checkDisks(homes, directories),
      ...checkWords(directories),
      ...this.ticks.check().faults,
    ];
  }

  async #logged(): Promise<LoggedHome[]> {
    const seal = FleetSeal.read({ disk: realDisk(), random: realRandom() }, this.#key);
    if (!seal.ok) throw new Error(seal.error.message);
    const { primary } = this.databases;
    const homes = await primary.sql("select id, name, last_seq from holdfast.homes");
    const logged: LoggedHome[] = [];
    for (const line of homes) {
      const [id = "", name = "", lastSeq = ""] = line.split("|");
      const rows = await primary.sql(
        `select first, last, epoch, encode(bytes, 'hex') from holdfast.batches where home = '${id}' order by first`,
      );
      logged.push(loggedHome(seal.value, { id, name, lastSeq: Number(lastSeq) }, rows.map(batchOf)));
    }
    return logged;
  }

  /** One at a time: what is done to them ends with both as they were. */
  async databaseTrouble(act: () => Promise<void>): Promise<void> {
    const before = this.#troubles;
    const done = before.then(act);
    this.#troubles = done.catch(() => undefined); // `done` says it.
    await done;
  }

  /** What is on the disks of the hosts, where it outlives them. */
  keep(): string {
    const kept = `${this.place}-failed`;
    for (const { machine } of this.hosts) run("cp", "-a", machine.disk, `${kept}-${machine.node.name}`);
    return `${kept}-*`;
  }

  /** When all have stopped. */
  remove(): void {
    for (const { machine } of this.hosts) machine.remove();
    this.databases.remove();
    rmSync(this.place, { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    for (const { machine, relays } of this.hosts) {
      await machine.powerOff();
      for (const relay of relays) relay.close();
    }
    await this.databases.stop();
  }
}

function batchOf(line: string): BatchRow {
  const [first, last, epoch, hex = ""] = line.split("|");
  return {
    first: Number(first),
    last: Number(last),
    epoch: Number(epoch),
    bytes: Uint8Array.from(Buffer.from(hex, "hex")),
  };
}
