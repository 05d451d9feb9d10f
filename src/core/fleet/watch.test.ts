// When a home may be taken, as a table of looks.
import { expect, test } from "bun:test";
import {
  afterLook,
  type HomeFacts,
  isFresh,
  isSilent,
  lookEveryMs,
  mayTake,
  NOTHING_WATCHED,
  type Watch,
} from "./watch.ts";

const LEASE = 12_000;
const EVERY = lookEveryMs(LEASE);
const HOST = { id: "h1", name: "one", takes: (name: string) => name.startsWith("w") };
const HOME: HomeFacts = {
  ...{ id: "a", name: "work", take: "t", epoch: 3, host: "h2", leaseMs: 0, leaseEnd: "100", lastSeq: 7 },
  ...{ takeover: "auto", moveTo: "" },
};

/** Looks at these moments, all of which find these homes; each answer takes `ms`. */
function watched(at: readonly number[], homes: (at: number) => readonly HomeFacts[], ms = 10): Watch {
  const looks = at.map((sentAt) => ({ sentAt, gotAt: sentAt + ms, homes: homes(sentAt) }));
  return looks.reduce((watch, look) => afterLook(watch, look, LEASE, 0), NOTHING_WATCHED);
}

function every(from: number, until: number): number[] {
  return Array.from({ length: Math.floor((until - from) / EVERY) + 1 }, (_, n) => from + n * EVERY);
}

test("WA1 a home is taken after a whole lease in which its row did not change, and not a moment earlier", () => {
  const until = 10 + LEASE;
  for (const last of [until - 1, until, until + 1]) {
    const watch = watched([...every(0, LEASE - EVERY), last], () => [HOME]);
    const expected = last < until ? { kind: "wait", until } : { kind: "take", why: "expired" };
    expect(mayTake(watch, HOME, HOST)).toEqual(expected as ReturnType<typeof mayTake>);
  }
});

test("WA1 whatever changes in a row starts the count again", () => {
  const changes: readonly Partial<HomeFacts>[] = [{ epoch: 4 }, { take: "u" }, { leaseEnd: "101" }, { lastSeq: 8 }];
  for (const change of changes) {
    const changed = { ...HOME, ...change };
    const watch = watched(every(0, 2 * LEASE), (at) => [at < LEASE ? HOME : changed]);
    expect(mayTake(watch, changed, HOST)).toEqual({ kind: "wait", until: LEASE + 10 + LEASE });
    const later = watched(every(0, 2 * LEASE + EVERY), (at) => [at < LEASE ? HOME : changed]);
    expect(mayTake(later, changed, HOST).kind).toBe("take");
  }
});

test("WA1 what is no renewal does not: the name, an operator's wish, the end of the lease passing", () => {
  const same: readonly Partial<HomeFacts>[] = [{ name: "wo" }, { moveTo: "elsewhere" }, { host: "h3" }];
  for (const change of same) {
    const changed = { ...HOME, ...change };
    const watch = watched(every(0, LEASE + EVERY), (at) => [at < LEASE ? HOME : changed]);
    expect(mayTake(watch, changed, HOST).kind).toBe("take");
  }
});

test("WA2 a late answer, or a look that was not sent in time, starts the count again", () => {
  const steady = every(0, LEASE + EVERY);
  const late = watched([...steady, 5 * EVERY + LEASE / 2], () => [HOME]);
  expect(mayTake(late, HOME, HOST).kind).toBe("wait");
  const inTime = watched([...steady, LEASE + EVERY + LEASE / 2 - 10], () => [HOME]);
  expect(mayTake(inTime, HOME, HOST).kind).toBe("take");
  for (const [ms, kind] of [
    [LEASE / 3, "take"],
    [LEASE / 3 + 1, "wait"],
  ] as const) {
    const sentAt = LEASE + EVERY + 10;
    const slow = afterLook(
      watched(steady, () => [HOME]),
      { sentAt, gotAt: sentAt + ms, homes: [HOME] },
      LEASE,
      0,
    );
    expect(mayTake(slow, HOME, HOST).kind).toBe(kind);
  }
});

test("WA3 after a gap, owners with a short lease get the time that they need to come back", () => {
  const short = 3_000;
  const looks = Array.from({ length: 9 }, (_, n) => n * 1_000);
  const seen = looks.map((sentAt) => {
    const upTo = looks.filter((at) => at <= sentAt).map((at) => ({ sentAt: at, gotAt: at + 1, homes: [HOME] }));
    const watch = upTo.reduce((before, look) => afterLook(before, look, short, 0), NOTHING_WATCHED);
    return mayTake(watch, HOME, HOST).kind;
  });
  expect(seen).toEqual([...Array<"wait">(8).fill("wait"), "take"]);
});

test("WA4 an owner with a longer lease is given all of it, even if the database's clock was set meanwhile", () => {
  const longer = 5 * LEASE;
  const fresh = { ...HOME, leaseMs: longer };
  const at = (last: number) => watched(every(0, last), (now) => [now === 0 ? fresh : HOME]);
  expect(mayTake(at(longer), HOME, HOST)).toEqual({ kind: "wait", until: 10 + longer });
  expect(mayTake(at(longer + EVERY), HOME, HOST).kind).toBe("take");
});

test("a lease that lasts by the clock of the database is waited for", () => {
  const lasting = { ...HOME, leaseMs: 500 };
  const watch = watched(every(0, 2 * LEASE), () => [lasting]);
  expect(mayTake(watch, lasting, HOST)).toEqual({ kind: "wait", until: 2 * LEASE + 10 + 500 });
});

test("WA5 WA6 what is never taken, and what is taken at once", () => {
  const long = (home: HomeFacts) =>
    mayTake(
      watched(every(0, 3 * LEASE), () => [home]),
      home,
      HOST,
    );
  const atOnce = (home: HomeFacts) =>
    mayTake(
      watched([0], () => [home]),
      home,
      HOST,
    );
  const rows: readonly (readonly [Partial<HomeFacts>, string])[] = [
    [{ epoch: 0, leaseEnd: "", take: "" }, "nobody's"],
    [{ epoch: 0, leaseEnd: "", take: "", moveTo: "one" }, "nobody's"],
    [{ host: "h1" }, "here"],
    [{ takeover: "manual" }, "manual"],
    [{ takeover: "what later versions know" }, "manual"],
    [{ takeover: "manual", moveTo: "two" }, "manual"],

    [{ name: "other" }, "not wanted"],
    [{ name: "other", moveTo: "two" }, "not wanted"],
    [{ leaseEnd: "" }, "released"],
    [{ leaseEnd: "", moveTo: "two" }, "released"],
  ];
  for (const [facts, why] of rows) expect(long({ ...HOME, ...facts })).toEqual({ kind: "no", why } as never);
  for (const facts of [{}, { takeover: "manual" }, { name: "other" }, { host: "h1" }]) {
    const home = { ...HOME, leaseEnd: "", moveTo: "one", ...facts };
    expect(atOnce(home)).toEqual({ kind: "take", why: "moved" });
  }
  for (const facts of [{ name: "other" }, { takeover: "manual" }])
    expect(long({ ...HOME, ...facts, moveTo: "one" })).toEqual({ kind: "take", why: "expired" });
  expect(atOnce({ ...HOME, moveTo: "one" }).kind).toBe("wait");
});

test("WA7 each host waits for a time of its own, up to a quarter of a lease", () => {
  const waits = [0, 0.5, 0.999].map((chance) => {
    const look = { sentAt: 0, gotAt: 0, homes: [HOME] };
    const verdict = mayTake(afterLook(NOTHING_WATCHED, look, LEASE, chance), HOME, HOST);
    return verdict.kind === "wait" ? verdict.until : undefined;
  });
  expect(waits).toEqual([LEASE, LEASE * 1.125, LEASE + 0.999 * (LEASE / 4)]);
});

test("a home that was not there, or is not there any more, is not taken", () => {
  const watch = watched(every(0, 2 * LEASE), (at) => (at < LEASE ? [HOME] : []));
  expect(mayTake(watch, HOME, HOST)).toEqual({ kind: "wait", until: Number.POSITIVE_INFINITY });
  expect(mayTake(NOTHING_WATCHED, HOME, HOST).kind).toBe("wait");
});

test("WA2 what was seen is acted upon within half a lease, or looked at again", () => {
  const watch = watched([0], () => [HOME]);
  expect([LEASE / 2, LEASE / 2 + 1].map((now) => isFresh(watch, now, LEASE))).toEqual([true, false]);
  expect(isFresh(NOTHING_WATCHED, 0, LEASE)).toBe(false);
});

test("WA8 a home is got ready for once half a lease has passed without a renewal, if it may be taken here", () => {
  const after = (ms: number, home = HOME) =>
    isSilent(
      watched([0, EVERY, ms], () => [home]),
      home,
      HOST,
      LEASE,
    );
  expect([after(LEASE / 2 + 9), after(LEASE / 2 + 10)]).toEqual([false, true]);
  const half = { ...HOME, leaseMs: LEASE / 2 };
  expect([after(2 * EVERY, half), after(2 * EVERY, { ...half, leaseMs: LEASE / 2 + 1 })]).toEqual([true, false]);
  for (const change of [{ takeover: "manual" }, { host: "h1" }, { leaseEnd: "" }, { name: "x" }])
    expect(after(2 * EVERY, { ...HOME, ...change })).toBe(false);
  const renewed = watched(every(0, LEASE), (at) => [{ ...HOME, leaseEnd: `${at}` }]);
  expect(isSilent(renewed, { ...HOME, leaseEnd: `${LEASE}` }, HOST, LEASE)).toBe(false);
});
