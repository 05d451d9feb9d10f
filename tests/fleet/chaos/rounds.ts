// Rounds of chaos: work in all homes of a fleet, and troubles at random; then everything comes back, and it is checked
// what the log, the disks and the steps say (checks.ts).
import { SimRandom } from "../../sim/random.ts";
import { Fleet } from "./fleet.ts";
import { aTrouble } from "./troubles.ts";

/** So many troubles at once. */
const AT_ONCE = 2;
const MAX_BETWEEN_MS = 2_000;

export type Round = {
  readonly acknowledged: number;
  readonly failed: number;
  readonly takeovers: number;
  readonly promotions: number;
  readonly cancelled: number;
  readonly troubles: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
};

export async function tryRound(seed: number, seconds: number, say: (words: string) => void): Promise<Round> {
  const random = new SimRandom(seed);
  const fleet = new Fleet(random);
  if (!fleet.hasSkew) say("there is no compiler: no wall clock is skewed");
  try {
    await fleet.start();
    const troubles = await trouble(fleet, { random, seconds, say });
    say("everything comes back");
    const notHealed = await fleet.heals();
    if (notHealed.length > 0) for (const host of fleet.hosts) say(`${host.name} says:\n${host.log()}`);
    const takeovers = await fleet.takeovers();
    const faults = [...notHealed, ...(await fleet.check())];
    if (faults.length > 0) say(`what was on the hosts' disks is in ${fleet.keep()}`);
    const sum = (of: (client: Fleet["clients"][number]) => number) =>
      fleet.clients.reduce((all, one) => all + of(one), 0);
    const { promotions, cancelled } = fleet.databases;
    const work = { acknowledged: sum((one) => one.acknowledged.length), failed: sum((one) => one.failed) };
    return { ...work, takeovers, promotions, cancelled, troubles, faults };
  } finally {
    await fleet.stop();
  }
}

type Trying = { readonly random: SimRandom; readonly seconds: number; say(words: string): void };

/** Returns how often each of them came. */
async function trouble(fleet: Fleet, { random, seconds, say }: Trying): Promise<Record<string, number>> {
  const end = performance.now() + seconds * 1_000;
  const isOver = () => performance.now() > end;
  const counts: Record<string, number> = {};
  const working = fleet.clients.map((client) => client.work(isOver));
  const troubling = Array.from({ length: AT_ONCE }, async () => {
    while (!isOver()) {
      const { name, run } = aTrouble(random);
      counts[name] = (counts[name] ?? 0) + 1;
      say(name);
      await run(fleet, random);
      say(`${name}: over`);
      await Bun.sleep(random.int(MAX_BETWEEN_MS));
    }
  });
  await Promise.all([...working, ...troubling]);
  return counts;
}
