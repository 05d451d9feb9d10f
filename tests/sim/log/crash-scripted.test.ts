// Crash at every call of histories written by hand, each for a danger it names; then of a log that has lived before.
import { expect, test } from "bun:test";
import { SimDisk } from "../disk.ts";
import { amount, seeded } from "../fuzz/profile.ts";
import { HISTORIES, randomHistory } from "./histories.ts";
import { Life, type Step } from "./life.ts";
import { sweep } from "./sweep.ts";

/** This file's share of the 100,000 crash points that a full run must survive; the gate has a sample. */
const SHARE = amount(1_000, 50_000);
const GATE_ONE_IN = 8;
/** Lives that were lived before the one that is crashed: none, 1, 2 or 3 of them, beside the first. */
const EARLIER_LIVES = 4;
const ENDINGS = amount(3, 12);
const NOTHING_YET = { issued: [], acknowledged: 0 };
const AWAIT: Step = { kind: "await" };
const random = seeded(1);
let survived = 0;

for (const [name, steps] of Object.entries(HISTORIES)) {
  test(`FI-1(b) EL-2 EL-3(a,b,c,d) a crash at any call loses nothing acknowledged: ${name}`, async () => {
    const count = await sweep(steps, new SimDisk(), NOTHING_YET, {
      random,
      randomEndings: ENDINGS,
      gateOneIn: GATE_ONE_IN,
      nestOneIn: amount(60, 20),
    });
    expect(count).toBeGreaterThan(amount(15, 100));
    survived += count;
  });
}

test("EL-3(d) lines that an earlier life left in a segment never come back in a later one", async () => {
  const life = await Life.begin(new SimDisk(), NOTHING_YET);
  const small: Step[] = Array.from({ length: 7 }, (_, at) => [
    { kind: "append", sessions: [at % 3], size: 5 * at } as const,
    AWAIT,
  ]).flat();
  await life.perform(small);
  const next = await Life.begin(life.disk.processKill(), life.memory);
  await next.log.close();
  const count = await sweep([...small.slice(0, 6)], next.disk.processKill(), next.memory, {
    random,
    randomEndings: ENDINGS,
    nestOneIn: 10,
  });
  expect(count).toBeGreaterThan(100);
  survived += count;
});

test("a kill when everything is synced leaves nothing torn and nothing for the quarantine, whatever old lines the segments hold", async () => {
  let life = await Life.begin(new SimDisk(), NOTHING_YET);
  for (let lives = 0; lives < 12; lives += 1) {
    await life.perform([...randomHistory(random, 8), AWAIT]);
    life = await Life.begin(life.disk.processKill(), life.memory);
    expect(life.log.report).toMatchObject({ torn: [], quarantined: [], lost: [], frozen: [] });
  }
});

test("FI-1(b) EL-2 EL-3(a,b,c,d) a crash in the second, third … life loses nothing of any life", async () => {
  let round = 0;
  while (survived < SHARE || round < EARLIER_LIVES) {
    let life = await Life.begin(new SimDisk(), NOTHING_YET);
    for (let lives = round % EARLIER_LIVES; lives >= 0; lives -= 1) {
      await life.perform(randomHistory(random, 6));
      life = await Life.begin(life.disk.processKill(), life.memory);
    }
    await life.log.close();
    const disk = life.disk.processKill();
    survived += await sweep(randomHistory(random, 8), disk, life.memory, {
      random,
      randomEndings: amount(3, 8),
      gateOneIn: GATE_ONE_IN,
      nestOneIn: 30,
    });
    round += 1;
  }
  console.error(`crash points survived: ${survived} (${round} generated histories)`);
  expect(survived).toBeGreaterThanOrEqual(SHARE);
}, 900_000);
