// fleet.idle.1000: what 1,000 homes at rest, on 20 hosts, cost the server: CPU time of its processes in ms a second (10
// is 1 % of a core). What is printed says how many transactions that is, and what they are a home.
// A home here has no programs and no terminals, but it does what a real one does in the database at rest, with the same
// code: the lease of its log is renewed, its standby program looks for moves and for what is to be shipped, and one
// program of each host watches all homes. The lease is the default, 10 s.
// Not measured: connections. All homes share a few; a real one holds four or five, each a process of the server.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { APPEND, DESCRIBE, SNAPSHOT } from "../src/fleet/calls.ts";
import { initDatabase } from "../src/fleet/schema.ts";
import { writeOwner } from "../src/home/fleet-files.ts";
import { fleetFiles } from "../src/standby/fleet-files.ts";
import { type StandbySettings, startStandby } from "../src/standby/standby.ts";
import { StatusFile } from "../src/standby/status.ts";
import type { Postgres as PostgresPort, PostgresTarget } from "../src/world/postgres.ts";
import { realChildren } from "../src/world/real/children.ts";
import { realPostgres } from "../src/world/real/postgres/client.ts";
import { realSelf } from "../src/world/self.ts";
import { realWorld } from "../src/world/world.ts";
import { databaseOn, logOf, newFleetKey, targetOf, wanted } from "./fleet-home.ts";
import { Postgres } from "./postgres.ts";
import { cpuMsBetween } from "./processes.ts";
import { costRow, type Row } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";

const HOSTS = 20;
const HOMES_A_HOST = 50;
const CONNECTIONS = 16;
const LEASE_MS = 10_000;
const SETTLE_MS = 20_000;
const WATCH_MS = 40_000;
const BAR = 200;

export async function fleetIdle(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const missing = Postgres.missing(bench);
  if (missing !== undefined) return bench.say(`skipped, because ${missing}: ${names.join(", ")}`);
  const place = makePlace(bench, "fleet-idle");
  const postgres = await Postgres.start(bench, join(place, "postgres"));
  const stops: (() => void)[] = [];
  try {
    wanted(await initDatabase(databaseOn(postgres)));
    const shared = await sharedBy(targetOf(postgres));
    const [hosts, each] = bench.quick ? [2, 3] : [HOSTS, HOMES_A_HOST];
    const key = newFleetKey(place);
    for (let host = 0; host < hosts; host += 1)
      stops.push(...(await startHost(`host-${host}`, each, { place, key, postgres: shared.port, server: postgres })));
    await Bun.sleep(bench.quick ? 1_000 : SETTLE_MS);
    emit(await watched(hosts * each, { bench, postgres, statements: shared.statements }));
  } finally {
    for (const stop of stops) stop();
    await postgres.end();
  }
}

type Watched = { readonly bench: Bench; readonly postgres: Postgres; readonly statements: ReadonlyMap<string, number> };

async function watched(homes: number, { bench, postgres, statements }: Watched): Promise<Row> {
  const [before, counted, began] = [postgres.cpu(), new Map(statements), performance.now()];
  await Bun.sleep(bench.quick ? 3_000 : WATCH_MS);
  const seconds = (performance.now() - began) / 1_000;
  const value = cpuMsBetween(before, postgres.cpu()) / seconds;
  const rates = [...statements].map(([name, count]): [string, number] => [
    name.replace("holdfast.", ""),
    (count - (counted.get(name) ?? 0)) / seconds,
  ]);
  const all = rates.reduce((sum, [, rate]) => sum + rate, 0);
  const words = rates.filter(([, rate]) => rate > 0).map(([name, rate]) => `${name} ${rate.toFixed(1)}`);
  bench.say(`fleet.idle: ${homes} homes: ${all.toFixed(0)} statements/s (${words.join(", ")})`);
  return costRow({ name: "fleet.idle.1000", value, unit: "ms/s", bar: BAR });
}

type Where = {
  readonly place: string;
  readonly key: string;
  readonly postgres: PostgresPort;
  readonly server: Postgres;
};

/** Its own home, and others that it has taken over. Returns how to stop them. */
async function startHost(name: string, homes: number, where: Where): Promise<(() => void)[]> {
  const taken = join(where.place, name, "homes");
  const stops: (() => void)[] = [];
  for (let home = 0; home < homes; home += 1) {
    const directory = home === 0 ? join(where.place, name, "work") : join(taken, `home-${home}`);
    stops.push(...(await startHome({ id: `${name}-${home}`, directory, host: name, homes: taken }, where)));
  }
  return stops;
}

type Light = { readonly id: string; readonly directory: string; readonly host: string; readonly homes: string };

async function startHome(light: Light, { key, postgres, server }: Where): Promise<(() => void)[]> {
  const world = { ...realWorld(), postgres };
  for (const name of ["run", "fleet", "recovery"]) mkdirSync(join(light.directory, name), { recursive: true });
  const { log, take, database } = await logOf(light.id, databaseOn(server, postgres), LEASE_MS);
  await database.call(APPEND, { take, batch: { first: 1, last: 2, bytes: new Uint8Array(1_000) }, leaseMs: LEASE_MS });
  await database.call(SNAPSHOT, { take, seq: 1 });
  await database.call(DESCRIBE, { take, name: light.id, takeover: "auto", host: light.host });
  await writeOwner({ disk: world.disk, home: light.directory }, { home: light.id, take, wished: null });
  const renewal = setInterval(() => void log.renew(), LEASE_MS / 3);
  const stop = await startStandby(settingsOf(light, world, { key, target: targetOf(server) }));
  return [() => clearInterval(renewal), stop, () => log.close()];
}

type Given = { readonly key: string; readonly target: PostgresTarget };

function settingsOf(light: Light, world: StandbySettings["world"], { key, target }: Given): StandbySettings {
  const { directory: home, host: hostName, homes } = light;
  const config: StandbySettings["config"] = {
    ...{ url: "", keyFile: key, host: hostName, leaseS: LEASE_MS / 1_000, takeover: "auto", take: [], mirror: [] },
    ...{ homes, labels: [], capacity: 0, tapeBytes: 256 << 10, ssh: "", page: "", carryBytes: 0 },
  };
  const say = () => undefined;
  const lists = { changed: async () => undefined, close: () => undefined };
  const place = { directory: home, command: [], ssh: "" };
  const programs = { children: realChildren(), self: realSelf() };
  const files = fleetFiles(world, { config, home, lists, place, page: () => "", say, ...programs });
  return {
    ...{ world, home, config, hostName, address: "", target, say },
    ...wanted(files),
    start: async () => ({ code: "bench", message: `${hostName} took a home`, hint: "" }),
    daemon: { role: async () => "owner", handOver: async () => undefined },
    leave: () => undefined,
    broken: (error) => {
      throw error;
    },
    status: new StatusFile(world, home),
  };
}

type Shared = { readonly port: PostgresPort; readonly statements: ReadonlyMap<string, number> };

/** A few connections as if they were any number; each still runs one statement at a time. */
async function sharedBy(target: PostgresTarget): Promise<Shared> {
  const real = await Promise.all(Array.from({ length: CONNECTIONS }, () => realPostgres().connect(target)));
  const lanes = real.map((made) => ({ connection: wanted(made), last: Promise.resolve<unknown>(undefined) }));
  const statements = new Map<string, number>();
  let next = 0;
  const connect: PostgresPort["connect"] = async () => {
    const lane = lanes[next++ % lanes.length];
    if (lane === undefined) throw new Error("there is a connection");
    const { connection } = lane;
    let isOpen = true;
    return {
      ok: true,
      value: {
        host: connection.host,
        get isOpen() {
          return isOpen;
        },
        run: (statement, values, withinMs) => {
          statements.set(statement.name, (statements.get(statement.name) ?? 0) + 1);
          const run = () => connection.run(statement, values, withinMs);
          const outcome = lane.last.then(run, run);
          lane.last = outcome;
          return outcome;
        },
        cancel: async () => undefined,
        close: () => {
          isOpen = false;
        },
      },
    };
  };
  return { port: { connect }, statements };
}
