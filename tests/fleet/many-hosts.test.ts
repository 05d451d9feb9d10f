// Invariant 8 of docs/FLEET.md over simulated time: nobody who is healthy is robbed, and every dead host's home is
// taken.
import { expect, test } from "bun:test";
import type { WatchVerdict } from "../../src/core/fleet/watch.ts";
import { amount, seeded } from "../sim/fuzz/profile.ts";
import type { SimRandom } from "../sim/random.ts";
import { ManyHosts, type ManyOptions, type Trouble } from "./many-hosts.ts";

const HOUR = 3_600_000;

function troublesIn(random: SimRandom, forMs: number, leaseMs: number): Trouble[] {
  const troubles: Trouble[] = [];
  for (let at = random.fraction() * 20 * leaseMs; at < forMs; at += (2 + 40 * random.fraction()) * leaseMs) {
    const to = at + random.fraction() ** 2 * 6 * leaseMs;
    troubles.push({ from: at, to, kind: random.chance(0.5) ? "frozen" : "away" });
    at = to;
  }
  return troubles;
}

function simulated(
  leaseMs: number,
  more: Partial<ManyOptions> = {},
): ManyHosts & { readonly troubles: readonly Trouble[] } {
  const random = seeded(leaseMs);
  const forMs = more.forMs ?? HOUR;
  const troubles = troublesIn(random, forMs, leaseMs);
  const options = { random, hosts: 1_000, leaseMs, forMs, troubles, deaths: 150, pauses: 400, ...more };
  const many = new ManyHosts(options);
  many.run();
  return Object.assign(many, { troubles });
}

/** The end of the last trouble that there was between these moments. */
function lastTrouble(troubles: readonly Trouble[], from: number, to: number): number | undefined {
  const during = troubles.filter((trouble) => trouble.from < to && trouble.to > from);
  return during.length === 0 ? undefined : Math.max(...during.map((trouble) => trouble.to));
}

for (const leaseMs of [10_000, 3_000]) {
  test(`a thousand hosts with a lease of ${leaseMs} ms: nobody healthy is robbed, and the dead are taken in time`, () => {
    const forMs = amount(90 * leaseMs, 4 * HOUR);
    const many = simulated(leaseMs, { forMs });
    expect(many.robbed).toEqual([]);
    expect(many.left).toEqual([]);
    expect(many.takings.length).toBeGreaterThan(100);
    expect(many.looks).toBeGreaterThan((1_000 * forMs) / leaseMs);
    const ofTheDead = many.takings.filter(
      ({ from, at }) => at > (many.hosts[from]?.diesAt ?? Number.POSITIVE_INFINITY),
    );
    const late = ofTheDead.flatMap(({ from, at }) => {
      const diedAt = many.hosts[from]?.diesAt ?? 0;
      const trouble = lastTrouble(many.troubles, diedAt - leaseMs, at);
      const isKnown = trouble === undefined && diedAt > leaseMs; // WA3: nobody has watched it for long before that.
      const bound = isKnown ? 2 * leaseMs : Math.max(leaseMs, 7_000) + leaseMs;
      const since = Math.max(diedAt, trouble ?? 0);
      return at - since > bound ? [{ from, at, since, took: at - since }] : [];
    });
    expect(late).toEqual([]);
  });
}

/** Again and again it is away for longer than the longest wait of owners grows. */
const OUTAGES: Omit<ManyOptions, "random"> = {
  ...{ leaseMs: 3_000, hosts: 300, forMs: 600_000, deaths: 20, pauses: 0 },
  troubles: Array.from({ length: 12 }, (_, n) => ({
    from: 20_000 + n * 45_000,
    to: 35_000 + n * 45_000,
    kind: "away",
  })),
};

test("WA3 owners with a lease that is shorter than their waits come back first after an outage", () => {
  const many = new ManyHosts({ random: seeded(3), ...OUTAGES });
  many.run();
  expect([many.robbed, many.left]).toEqual([[], []]);
});

/** What a naive taker does, and what one does that forgets a rule. */
const MISTAKES: Readonly<Record<string, Partial<ManyOptions>>> = {
  "a lease that ended by the clock of the database is enough": {
    mayTake: (_, home) => (home.leaseMs === 0 ? TAKE : NOT_YET),
    isFresh: () => true,
  },
  "what was seen long ago is acted upon": {
    mayTake: (watch, home) => (home.leaseMs === 0 && watch.homes.has(home.id) ? TAKE : NOT_YET),
    isFresh: () => true,
  },
  "after an outage, owners are given no longer than a lease": {
    ...OUTAGES,
    mayTake: (watch, home) => {
      const watchedMs = (watch.last?.sentAt ?? 0) - (watch.homes.get(home.id)?.since ?? 0);
      return home.leaseMs === 0 && watchedMs > OUTAGES.leaseMs ? TAKE : NOT_YET;
    },
  },
};
const TAKE: WatchVerdict = { kind: "take", why: "expired" };
const NOT_YET: WatchVerdict = { kind: "no", why: "not wanted" };

for (const [mistake, planted] of Object.entries(MISTAKES)) {
  test(`the simulation notices: ${mistake}`, () => {
    expect(simulated(10_000, { hosts: 200, forMs: HOUR, ...planted }).robbed.length).toBeGreaterThan(0);
  });
}
