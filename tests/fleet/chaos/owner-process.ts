// `bun owner-process.ts URL LEASE_MS HOME…`: owners of homes, as a daemon is one, without all the rest. Each takes its
// home, and appends to its log without end. Prints a line of JSON for every append: when it was begun, by the monotonic
// clock that all processes share, and what came of it.
import { ENROL } from "../../../src/fleet/calls.ts";
import { RemoteLog } from "../../../src/fleet/remote-log.ts";
import { takeHome } from "../../../src/fleet/take.ts";
import { realClock } from "../../../src/world/real/clock.ts";
import { realRandom } from "../../../src/world/real/random.ts";
import { databaseAt } from "../server.ts";

const [url = "", leaseMs = "", ...homes] = Bun.argv.slice(2);
const BETWEEN_MS = 20;

export type Told = { readonly home: string; readonly seq: number; readonly begunNs: string; readonly end: string };

async function own(home: string): Promise<void> {
  const database = databaseAt(url);
  const ports = { database, clock: realClock(), random: realRandom(), troubled: () => undefined };
  await database.call(ENROL, { home, lastSeq: 0 });
  const wish = {
    ...{ take: { home, epoch: 1, id: `${home} zombie` }, owner: "zombie", leaseMs: Number(leaseMs) },
    ifExpired: false,
  };
  const taken = await takeHome({ ...ports, isWanted: () => true }, wish);
  if (!taken.ok) throw new Error(taken.error.message);
  const log = new RemoteLog(ports, taken.value);
  for (let isOver = false; !isOver; ) {
    const seq = log.lastSeq + 1;
    const begunNs = `${process.hrtime.bigint()}`;
    const { kind } = await log.append(seq, Buffer.from(`zombie ${seq}\n`));
    const told: Told = { home, seq, begunNs, end: kind };
    console.log(JSON.stringify(told));
    isOver = kind === "fenced";
    await Bun.sleep(Math.random() * BETWEEN_MS);
  }
}

await Promise.all(homes.map(own));
process.exit(0);
