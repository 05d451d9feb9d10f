// Every border against hostile inputs (border.ts): what reads them refuses them in its own words, and nothing else
// happens. A failure names the border and the number of the case: the same seed makes it again.
import { afterAll, expect, test } from "bun:test";
import { SimRandom } from "../../random.ts";
import { PROFILE, seeded } from "../profile.ts";
import { Attacker } from "./attacks.ts";
import { type Border, MAX_MS } from "./border.ts";
import { CODEC_BORDERS } from "./codec-borders.ts";
import { FILE_BORDERS } from "./file-borders.ts";
import { WIRE_BORDERS, wrongExamples } from "./wire-borders.ts";

const BORDERS: readonly Border[] = [...CODEC_BORDERS, ...WIRE_BORDERS, ...FILE_BORDERS];
const GOALS = { ci: 2_000, full: 60_000, nightly: 1_000_000 };
/** Each border has the same share, or less if it is slow. */
const SHARES = BORDERS.reduce((sum, { cost = 1 }) => sum + 1 / cost, 0);
const EACH = Math.ceil(GOALS[PROFILE.name] / SHARES);

let inputs = 0;
afterAll(() => console.log(`hostile inputs: ${inputs}`));

async function meet(border: Border, seed: number): Promise<void> {
  const from = performance.now();
  try {
    await border.meet(new Attacker(new SimRandom(seed)));
  } catch (error) {
    throw new Error(`${border.name}, case ${seed}: ${String(error)}`, { cause: error });
  }
  inputs += border.inputs;
  expect(performance.now() - from).toBeLessThan(MAX_MS);
}

test.each(BORDERS.map((border) => [border.name, border] as const))(
  "hostile inputs: %s",
  async (_, border) => {
    const first = seeded(700).int(2 ** 31);
    const { cost = 1 } = border;
    for (let at = 0; at * border.inputs * cost < EACH; at += 1) await meet(border, first + at);
  },
  3_600_000,
);

test("every example of a request and of a frame is valid before it is attacked", () => {
  expect(wrongExamples()).toEqual([]);
});
