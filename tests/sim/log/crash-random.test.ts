// Crash at every call of generated histories, with every shape of survivor: whole, absent, torn, in sectors, as zeros.
import { expect, test } from "bun:test";
import { SimDisk } from "../disk.ts";
import { amount, seeded } from "../fuzz/profile.ts";
import { randomHistory } from "./histories.ts";
import { sweep } from "./sweep.ts";

/** This file's share of the 100,000 crash points that a full run must survive; the gate has a sample. */
const SHARE = amount(800, 50_000);

test("FI-1(b) EL-2 EL-3(a,b,c,d) a crash at any call of a generated history loses nothing acknowledged", async () => {
  const random = seeded(2);
  const start = performance.now();
  let survived = 0;
  while (survived < SHARE) {
    const history = randomHistory(random, 4 + random.int(amount(4, 12)));
    survived += await sweep(
      history,
      new SimDisk(),
      { issued: [], acknowledged: 0 },
      { random, randomEndings: amount(4, 10), nestOneIn: 25 },
    );
  }
  const perSecond = Math.round((survived / (performance.now() - start)) * 1000);
  console.error(`crash points survived: ${survived} (${perSecond}/s)`);
  expect(survived).toBeGreaterThanOrEqual(SHARE);
}, 900_000);
