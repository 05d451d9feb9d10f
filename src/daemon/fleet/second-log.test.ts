// The log in the database beside the one on disk: what waits for it, what is refused, and what goes on without it.
import { expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { SimRandom } from "../../../tests/sim/random.ts";
import { isFault } from "../../base/fault.ts";
import type { AppendEnd } from "../../fleet/remote-log.ts";
import { FleetSeal } from "../../fleet/seal.ts";
import { GIVEN_UP, isLostHome } from "./lost-home.ts";
import { SecondLog } from "./second-log.ts";

const KEY = new Uint8Array(32).fill(7);
const FRAMES = Buffer.from("frames");

/** A database that answers when it is told to. */
class Remote {
  readonly asked: { readonly last: number; readonly sealed: Uint8Array; answer(end: AppendEnd): void }[] = [];
  lastSeq = 0;

  append(last: number, sealed: Uint8Array): Promise<AppendEnd> {
    const { promise, resolve } = Promise.withResolvers<AppendEnd>();
    const answer = (end: AppendEnd) => {
      if (end.kind === "committed") this.lastSeq = last;
      resolve(end);
    };
    this.asked.push({ last, sealed, answer });
    return promise;
  }

  async renew(): Promise<void> {
    this.lastSeq += 0;
  }
}

function made(mayFallBehind: boolean) {
  const [clock, remote, broken] = [new SimClock(), new Remote(), [] as string[]];
  const seal = new FleetSeal(new SimRandom(1), [KEY]);
  const trouble = { words: "it is away", isLasting: false };
  const second = new SecondLog({
    ...{ clock, home: "home", seal, remote, mayFallBehind },
    why: () => trouble,
    broken: (error) => void broken.push(error.message),
  });
  return { clock, remote, broken, seal, second, trouble };
}

async function isSettled(clock: SimClock, promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  promise.then(note, note);
  await clock.settle();
  return settled;
}

test("SL1 a batch is sealed for its place in the log, and waits for the database", async () => {
  const { clock, remote, seal, second } = made(false);
  const one = second.commit(3, FRAMES);
  expect(await isSettled(clock, one)).toBe(false);
  const [asked] = remote.asked;
  const opened = seal.openBatches("home", { first: 1, last: 3, bytes: asked?.sealed ?? FRAMES });
  expect(opened.ok && opened.value.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(["frames"]);
  asked?.answer({ kind: "committed" });
  expect(await isSettled(clock, one)).toBe(true);
  void second.commit(4, FRAMES);
  await clock.settle();
  expect(seal.openBatches("home", { first: 4, last: 4, bytes: remote.asked[1]?.sealed ?? FRAMES }).ok).toBe(true);
});

test("SL2 without an answer new work is refused after two seconds, and taken again with the answer", async () => {
  const { clock, remote, second } = made(false);
  const one = second.commit(1, FRAMES);
  clock.advance(1_999);
  expect(second.away).toBeUndefined();
  clock.advance(1);
  expect(second.away).toMatchObject({ code: "fleet-away", message: expect.stringContaining("it is away") });
  clock.advance(3_600_000);
  expect(await isSettled(clock, one)).toBe(false);
  remote.asked[0]?.answer({ kind: "committed" });
  await one;
  await clock.settle();
  expect(second.away).toBeUndefined();
});

test("SL3 once another host has the home, nothing is acknowledged any more, and who waits is told why", async () => {
  const { clock, remote, broken, second } = made(false);
  const one = second.commit(1, FRAMES);
  remote.asked[0]?.answer({ kind: "fenced" });
  await expect(one).rejects.toThrow("another host has this home");
  await clock.settle();
  expect(broken).toEqual(["another host has this home"]);
  await expect(second.commit(2, FRAMES)).rejects.toMatchObject({ code: "fleet-lost" });
  expect(remote.asked).toHaveLength(1);
});

test("SL4 a home that nobody takes goes on without the database, which gets everything afterwards, in order", async () => {
  const { clock, remote, second } = made(true);
  const one = second.commit(1, FRAMES);
  expect(await isSettled(clock, one)).toBe(false);
  clock.advance(2_000);
  expect(await isSettled(clock, one)).toBe(true);
  expect(second.away).toBeUndefined();
  expect(await isSettled(clock, second.commit(2, FRAMES))).toBe(true);
  expect(await isSettled(clock, second.commit(5, FRAMES))).toBe(true);
  expect([remote.asked.map(({ last }) => last), second.behind]).toEqual([[1], 5]);
  for (const at of [0, 1, 2]) {
    remote.asked[at]?.answer({ kind: "committed" });
    await clock.settle();
  }
  expect([remote.asked.map(({ last }) => last), second.behind]).toEqual([[1, 2, 5], 0]);
  const next = second.commit(6, FRAMES);
  expect(await isSettled(clock, next)).toBe(false);
});

test("SL4 more than is kept in memory is left to the next process, once the database is back", async () => {
  const { clock, remote, broken, second } = made(true);
  const large = new Uint8Array(40 << 20);
  void second.commit(1, large);
  clock.advance(2_000);
  await clock.settle();
  for (const last of [2, 3, 4]) await second.commit(last, large);
  for (const at of [0, 1]) {
    remote.asked[at]?.answer({ kind: "committed" });
    await clock.settle();
  }
  expect(remote.asked.map(({ last }) => last)).toEqual([1, 2]);
  expect(broken).toEqual(["the database is back, and lacks more than was kept in memory"]);
  await expect(second.commit(5, FRAMES)).rejects.toThrow("lacks more");
});

test("SL2 what is refused, and will not pass by itself, is said at once, and goes on when it was mended", async () => {
  const { clock, remote, second, trouble } = made(false);
  const one = second.commit(1, FRAMES);
  Object.assign(trouble, { words: "permission denied for table batches (42501)", isLasting: true });
  expect(second.away).toEqual({
    code: "fleet-away",
    message: expect.stringMatching(/refuses what this home writes, .*permission denied for table batches/),
    hint: expect.stringContaining("mend the database"),
  });
  clock.advance(3_600_000);
  remote.asked[0]?.answer({ kind: "committed" });
  await one;
  await clock.settle();
  expect(second.away).toBeUndefined();
});

test("LH1 whoever waits for a log that another host has fenced gets a Fault, and not a bug", async () => {
  const { remote, second } = made(false);
  const one = second.commit(1, FRAMES);
  remote.asked[0]?.answer({ kind: "fenced" });
  const error = await one.catch((why: unknown) => why);
  expect([isFault(error), isLostHome(error), isFault(error, GIVEN_UP)]).toEqual([true, true, false]);
});
