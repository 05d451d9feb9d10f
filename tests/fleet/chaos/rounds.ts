// Rounds of chaos: work in all homes of a fleet, and troubles at random; then everything comes back, and it is checked
// what the log, the disks and the steps say (checks.ts).
import { SimRandom } from "../../sim/random.ts";
import { Fleet } from "./fleet.ts";
import { aTrouble } from "./troubles.ts";

/** So many troubles at once. */
const AT_ONCE = 2;
const MAX_BETWEEN_MS = 2_000;

export type Wish = {
  readonly seed: number;
  readonly seconds: number;
  /** A part of the names of the troubles that come; empty: all of them do. */
  readonly like: string;
  say(words: string): void;
};

export type Round = {
  readonly acknowledged: number;
  readonly failed: number;
  readonly takeovers: number;
  readonly promotions: number;
  readonly cancelled: number;
  readonly ticks: number;
  /** Of these, how many while the home was on another host. */
  readonly elsewhere: number;
  readonly troubles: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
};

export async function tryRound({ seed, ...trying }: Wish): Promise<Round> {
  const { say } = trying;
  const random = new SimRandom(seed);
  const fleet = new Fleet(random, trying.seconds * 1_000);
  if (!fleet.hasSkew) say("there is no compiler: no wall clock is skewed");
  try {
    await fleet.start();
    const troubles = await trouble(fleet, { random, ...trying });
    say("everything comes back");
    const notHealed = await fleet.heals();
    if (notHealed.length > 0) for (const host of fleet.hosts) say(`${host.name} says:\n${host.log()}`);
    say("every home takes new work");
    const takeovers = await fleet.takeovers();
    const faults = [...notHealed, ...(await fleet.check())];
    if (faults.length > 0) say(`what was on the hosts' disks is in ${fleet.keep()}`);
    const sum = (of: (client: Fleet["clients"][number]) => number) =>
      fleet.clients.reduce((all, one) => all + of(one), 0);
    const { promotions, cancelled } = fleet.databases;
    const work = { acknowledged: sum((one) => one.acknowledged.length), failed: sum((one) => one.failed) };
    const { ticks, elsewhere } = fleet.ticks.check();
    return { ...work, ticks, elsewhere, takeovers, promotions, cancelled, troubles, faults };
  } finally {
    await fleet.stop();
  }
}

type Trying = Omit<Wish, "seed"> & { readonly random: SimRandom };

/** Returns how often each of them came. */
async function trouble(fleet: Fleet, { random, seconds, like, say }: Trying): Promise<Record<string, number>> {
  const end = performance.now() + seconds * 1_000;
  const isOver = () => performance.now() > end;
  const counts: Record<string, number> = {};
  const watching = fleet.watch(isOver);
  const working = fleet.clients.map((client) => client.work(isOver));
  const troubling = Array.from({ length: AT_ONCE }, async () => {
    while (!isOver()) {
      const { name, run } = aTrouble(random, like);
      counts[name] = (counts[name] ?? 0) + 1;
      say(name);
      await run(fleet, random);
      say(`${name}: over`);
      await Bun.sleep(random.int(MAX_BETWEEN_MS));
    }
  });
  await Promise.all([watching, ...working, ...troubling]);
  return counts;
}
