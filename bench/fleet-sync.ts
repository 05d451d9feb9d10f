// fleet.sync.N: acknowledged events a second of N writers on a home's log, each waiting for its acknowledgement, which
// comes when the event is durable on this disk and in PostgreSQL, sealed. The peer is the same log on a disk that does
// not sync: what waiting for the local disk costs beside the database.
import { join } from "node:path";
import { SecondLog } from "../src/daemon/fleet/second-log.ts";
import { initDatabase } from "../src/fleet/schema.ts";
import { FleetSeal } from "../src/fleet/seal.ts";
import type { Disk } from "../src/world/disk.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { realRandom } from "../src/world/real/random.ts";
import { databaseOn, logOf, wanted } from "./fleet-home.ts";
import { Postgres } from "./postgres.ts";
import { type Contestant, rates } from "./rounds.ts";
import { type Row, rateRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";
import { openLog, writersTo } from "./writers.ts";

const KEY_BYTES = 32;

export async function fleetSync(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const missing = Postgres.missing(bench);
  if (missing !== undefined) return bench.say(`skipped, because ${missing}: ${names.join(", ")}`);
  const postgres = await Postgres.start(bench, join(makePlace(bench, "fleet-sync"), "postgres"));
  try {
    const database = databaseOn(postgres);
    wanted(await initDatabase(database));
    database.drop();
    for (const name of names) emit(await compared(name, Number(name.split(".").at(-1)), postgres, bench));
  } finally {
    await postgres.end();
  }
}

async function compared(name: string, writers: number, postgres: Postgres, bench: Bench): Promise<Row> {
  bench.say(`${name}: ${bench.rounds} rounds`);
  const both = await onBoth(`synced-${writers}`, writers, { postgres, bench, disk: realDisk() });
  const alone = await onBoth(`unsynced-${writers}`, writers, { postgres, bench, disk: unsynced(realDisk()) });
  const [value = Number.NaN, peerValue = Number.NaN] = await rates([both, alone], bench);
  return rateRow({ name, value, peer: "the same without the local sync", peerValue });
}

type On = { readonly postgres: Postgres; readonly bench: Bench; readonly disk: Disk };

async function onBoth(home: string, writers: number, { postgres, bench, disk }: On): Promise<Contestant> {
  const { log: remote } = await logOf(home, databaseOn(postgres));
  const log = await openLog(makePlace(bench, `fleet-sync/${home}`), disk);
  const [clock, random] = [realClock(), realRandom()];
  const seal = new FleetSeal(random, [Uint8Array.from(random.bytes(KEY_BYTES))]);
  const broken = (error: Error) => log.halt(error);
  log.commitTo(new SecondLog({ clock, home, seal, remote, mayFallBehind: false, why: () => undefined, broken }));
  const contestant = await writersTo(log, writers);
  const close = async () => {
    await contestant.close();
    remote.close();
  };
  return { ...contestant, name: home, close };
}

/** Files whose bytes are as durable as the system likes. */
function unsynced(disk: Disk): Disk {
  const nothing = async () => undefined;
  return {
    ...disk,
    open: (path, how) => {
      const file = disk.open(path, how);
      return Object.assign(file, { datasync: nothing, sync: nothing, datasyncBlocking: () => undefined });
    },
  };
}
