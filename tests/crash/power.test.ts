// The exercise in the simulated world, where the power can be cut: `run` and `verify` are correct, and not only for
// kills.
// What harnesses that cut the power for real will do with them is done here first.
import { expect, test } from "bun:test";
import { SimDisk } from "../sim/disk.ts";
import { Crashed } from "../sim/faults.ts";
import { amount, seeded } from "../sim/fuzz/profile.ts";
import type { SimRandom } from "../sim/random.ts";
import { nothing, randomSurvivor } from "../sim/survive.ts";
import { simWorld } from "../sim/world.ts";
import type { Ack } from "./acks.ts";
import { run } from "./run.ts";
import { verify } from "./verify.ts";

const HOME = "/home";
const EVENTS = 90;
/** So many calls are crashes: a life has some hundred, and each crash costs two more lives. */
const CRASHES = amount(12, 80);
const MINUTES = 3 * 60_000;

type Moment = { readonly disk: SimDisk; readonly acks: readonly Ack[]; readonly before: string };

async function live(disk: SimDisk, acks: Ack[], events: number, told?: () => void): Promise<void> {
  const tell = (ack: Ack) => {
    acks.push(ack);
    told?.();
  };
  await run(simWorld(1, disk), { home: HOME, events, seed: events }, { tell, say: () => undefined });
}

function expectKept(disk: SimDisk, acks: readonly Ack[], when: string): void {
  expect({ when, broken: verify({ ...simWorld(1, disk), home: HOME }, acks) }).toEqual({ when, broken: [] });
}

/** One at a random call of each of `CRASHES` equal parts of a life. */
async function momentsOf(random: SimRandom): Promise<Moment[]> {
  const calm = new SimDisk();
  await live(calm, [], EVENTS);
  const part = Math.floor(calm.calls / CRASHES);
  const chosen = new Set(Array.from({ length: CRASHES }, (_, at) => 1 + at * part + random.int(part)));
  const disk = new SimDisk();
  const acks: Ack[] = [];
  const found: Moment[] = [];
  disk.onCall = ({ index, operation, path }) => {
    if (chosen.has(index))
      found.push({ disk: disk.fork(), acks: acks.slice(), before: `call ${index}, ${operation} ${path}` });
  };
  await live(disk, acks, EVENTS);
  disk.onCall = undefined;
  return found;
}

/** As it is; after another life; and after a power cut at the end of that life. */
async function expectSurvived(disk: SimDisk, { acks, before }: Moment): Promise<void> {
  expectKept(disk, acks, `before ${before}`);
  const all = acks.slice();
  await live(disk, all, EVENTS + 10);
  expectKept(disk, all, `a second life after ${before}`);
  expectKept(disk.powerCut(nothing), all, `a power cut after a second life after ${before}`);
}

test(
  "EL-2 TC-4 the exercise keeps its word through power cuts at sampled calls, and verify gives no false alarm",
  async () => {
    const random = seeded(5);
    let survived = 0;
    for (const moment of await momentsOf(random)) {
      const cuts = [nothing, randomSurvivor(random), randomSurvivor(random)];
      for (const disk of [moment.disk.processKill(), ...cuts.map((cut) => moment.disk.powerCut(cut))]) {
        await expectSurvived(disk, moment);
        survived += 1;
      }
    }
    console.error(`${survived} crashes of the exercise survived in the simulated world`);
    expect(survived).toBe(CRASHES * 4);
  },
  MINUTES,
);

const LIVES = amount(15, 60);
/** Every second life gets so far; most others end in their recovery. */
const LEAST_ACKS = 3;

/** Lives for so many calls, counted from its first acknowledgements if it `isLong`. */
async function liveFor(disk: SimDisk, calls: number, acks: Ack[], isLong: boolean): Promise<void> {
  if (!isLong) disk.crashAt(disk.calls + calls);
  const enough = acks.length + LEAST_ACKS;
  try {
    await live(disk, acks, 100_000, () => {
      if (isLong && acks.length === enough) disk.crashAt(disk.calls + calls);
    });
  } catch (error) {
    if (!(error instanceof Crashed)) throw error;
  }
}

test(
  "FI-1(b) EL-2 TC-4 life after life, each ended by a power cut or a kill, nothing acknowledged in any of them is lost",
  async () => {
    for (const purpose of [6, 7, 8]) {
      const random = seeded(purpose);
      const acks: Ack[] = [];
      let disk = new SimDisk();
      for (let lives = 1; lives <= LIVES; lives += 1) {
        const isLong = lives % 2 === 0;
        await liveFor(disk, 1 + random.int(isLong ? 340 : 60), acks, isLong);
        disk = random.chance(0.2) ? disk.processKill() : disk.powerCut(randomSurvivor(random));
        expectKept(disk, acks, `seeded ${purpose}, life ${lives}`);
      }
      expect(acks.length).toBeGreaterThanOrEqual(LEAST_ACKS * Math.floor(LIVES / 2));
    }
  },
  MINUTES,
);
