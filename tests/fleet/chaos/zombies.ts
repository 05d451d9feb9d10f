// Zombies: owners whose process stands still (SIGSTOP) until another has taken their homes, and then goes on.
// ZO1. Each is refused at its first append that it begins after that, and nothing of it is behind the take.
// ZO2. What was acknowledged to it before is in the log, once.
import { readBatches } from "../../../src/fleet/history.ts";
import { RemoteLog } from "../../../src/fleet/remote-log.ts";
import { initDatabase } from "../../../src/fleet/schema.ts";
import { takeHome } from "../../../src/fleet/take.ts";
import { realClock } from "../../../src/world/real/clock.ts";
import { realRandom } from "../../../src/world/real/random.ts";
import { ours } from "../../ours.ts";
import { until } from "../../until.ts";
import { databaseAt } from "../server.ts";
import type { Told } from "./owner-process.ts";

const LEASE_MS = 400;
/** Each has a connection of its own. */
const AT_ONCE = 50;
const APPENDS = 3;

export type Refused = { readonly zombies: number; readonly refused: number; readonly faults: readonly string[] };

export async function tryZombies(url: string, wanted: number): Promise<Refused> {
  const database = databaseAt(url);
  const made = await initDatabase(database);
  if (!made.ok) throw new Error(made.error.message);
  database.drop();
  const faults: string[] = [];
  let refused = 0;
  for (let done = 0; done < wanted; done += AT_ONCE) {
    const homes = Array.from({ length: Math.min(AT_ONCE, wanted - done) }, (_, at) => `z${done + at}`);
    const found = await someZombies(url, homes);
    faults.push(...found);
    refused += homes.length - found.length;
  }
  return { zombies: wanted, refused, faults };
}

/** Returns a fault for each that was not refused as it should be. */
async function someZombies(url: string, homes: readonly string[]): Promise<string[]> {
  const words = ours("tests/fleet/chaos/owner-process.ts", url, `${LEASE_MS}`, ...homes);
  const child = Bun.spawn(words, { stdio: ["ignore", "pipe", "inherit"] });
  const told = new Map<string, Told[]>(homes.map((home) => [home, []]));
  const listening = listen(child.stdout, (one) => told.get(one.home)?.push(one));
  const all = () => homes.every((home) => (told.get(home)?.length ?? 0) >= APPENDS);
  await until("all own a home", all, () => told);
  child.kill("SIGSTOP");
  const takenNs = await takeAll(url, homes);
  child.kill("SIGCONT");
  await child.exited;
  await listening;
  const database = databaseAt(url);
  const faults: string[] = [];
  for (const home of homes) {
    const fault = faultOf(home, told.get(home) ?? [], { takenNs, log: await entriesOf(database, home) });
    if (fault !== undefined) faults.push(fault);
  }
  database.drop();
  return faults;
}

async function listen(stream: ReadableStream<Uint8Array>, tell: (told: Told) => void): Promise<void> {
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + Buffer.from(bytes).toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) tell(JSON.parse(line));
  }
}

/** Returns when all of them are taken, and something was appended behind the zombies' last entries. */
async function takeAll(url: string, homes: readonly string[]): Promise<bigint> {
  const database = databaseAt(url);
  const ports = { database, clock: realClock(), random: realRandom(), troubled: () => undefined };
  for (const home of homes) {
    const wish = { take: { home, epoch: 2, id: `${home} taker` }, owner: "taker", leaseMs: LEASE_MS, ifExpired: true };
    const taken = await until(
      `${home} is taken`,
      async () => {
        const end = await takeHome({ ...ports, isWanted: () => true }, wish);
        return end.ok && end.value;
      },
      () => home,
    );
    await new RemoteLog(ports, taken).append(taken.lastSeq + 1, Buffer.from("taker\n"));
  }
  database.drop();
  return process.hrtime.bigint();
}

async function entriesOf(database: ReturnType<typeof databaseAt>, home: string): Promise<string[]> {
  const read = await readBatches(database, home, 0);
  if (!read.ok) throw new Error(read.error.message);
  return read.value.map(({ bytes }) => Buffer.from(bytes).toString().trimEnd());
}

function faultOf(home: string, told: readonly Told[], seen: { takenNs: bigint; log: readonly string[] }) {
  const last = told.at(-1);
  const late = told.filter(({ begunNs, end }) => BigInt(begunNs) > seen.takenNs && end === "committed");
  const confirmed = told.filter(({ end }) => end === "committed").map(({ seq }) => `zombie ${seq}`);
  const isThere = confirmed.every((entry, at) => seen.log[at] === entry); // ZO2
  const isLast = seen.log.at(-1) === "taker" && seen.log.length <= confirmed.length + 2; // One may have been under way.
  if (last?.end === "fenced" && late.length === 0 && isThere && isLast) return undefined; // ZO1
  return `${home}: ended ${last?.end}, ${late.length} appended afterwards, confirmed ${confirmed.length}: ${seen.log}`;
}
