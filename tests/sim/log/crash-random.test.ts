// Crash at every call of generated histories, with every shape of survivor: whole, absent, torn, in sectors, as zeros.
import { expect, test } from "bun:test";
import { SimDisk } from "../disk.ts";
import { SimRandom } from "../random.ts";
import { randomHistory } from "./histories.ts";
import { sweep } from "./sweep.ts";

/** This file's share of the 100,000 crash points that a CI run must survive. */
const SHARE = 50_000;

test("FI-1(b) EL-2 EL-3(a,b,c,d) a crash at any call of a generated history loses nothing acknowledged", async () => {
  const random = new SimRandom(4_711);
  const start = performance.now();
  let survived = 0;
  while (survived < SHARE) {
    const history = randomHistory(random, 4 + random.int(12));
    survived += await sweep(
      history,
      new SimDisk(),
      { issued: [], acknowledged: 0 },
      { random, randomEndings: 10, nestOneIn: 25 },
    );
  }
  const perSecond = Math.round((survived / (performance.now() - start)) * 1000);
  console.error(`crash points survived: ${survived} (${perSecond}/s)`);
  expect(survived).toBeGreaterThanOrEqual(SHARE);
}, 300_000);
