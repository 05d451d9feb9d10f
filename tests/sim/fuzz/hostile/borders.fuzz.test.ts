// Every border against hostile inputs (border.ts): what reads them refuses them in its own words, and nothing else
// happens. A failure names the border and the number of the case: the same seed makes it again.
import { afterAll, expect, test } from "bun:test";
import { SimRandom } from "../../random.ts";
import { PROFILE, seeded } from "../profile.ts";
import { Attacker } from "./attacks.ts";
import { type Border, MAX_MS } from "./border.ts";
import { CODEC_BORDERS } from "./codec-borders.ts";
import { FILE_BORDERS } from "./file-borders.ts";
import { TUNNEL_BORDERS } from "./tunnel-borders.ts";
import { WIRE_BORDERS, wrongExamples } from "./wire-borders.ts";

const BORDERS: readonly Border[] = [...CODEC_BORDERS, ...WIRE_BORDERS, ...TUNNEL_BORDERS, ...FILE_BORDERS];
const GOALS = { ci: 1_000, full: 60_000, nightly: 1_000_000 };
/** Each border has the same share, or less if it is slow. */
const SHARES = BORDERS.reduce((sum, { cost = 1 }) => sum + 1 / cost, 0);
const EACH = Math.ceil(GOALS[PROFILE.name] / SHARES);

const DEEP = 100_000;
/** Lines that have stopped a home, or would if a certain limit were missing. */
const PINNED: readonly (readonly [border: string, line: string])[] = [
  ["the output of scripted", '{"type":"ask","request":"r","tool":"Bash","input":DEEP}'],
  ["the output of scripted", '{"type":"call","call":"c","tool":"remind_me","args":{"in_seconds":1e400,"text":"x"}}'],
  [
    "the output of scripted",
    '{"type":"call","call":"c","tool":"spawn_agent","args":{"name":"w","instructions":"x","provider":"constructor"}}',
  ],
  [
    "the output of claude",
    '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"B","input":DEEP}]}}',
  ],
  ["the output of claude", '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1e300}}'],
  ["the output of acp", '{"id":DEEP,"method":"session/request_permission","params":{"toolCall":{"rawInput":DEEP}}}'],
  ["the output of a command", '{"result":DEEP}'],
  [
    "the answer of a model",
    '{"choices":[{"delta":{"tool_calls":[{"id":"c","function":{"name":"t","arguments":"DEEP"}}]}}]}',
  ],
  ["what a step prints", "DEEP"],
  ["a message over MCP", '{"id":DEEP,"method":"ping"}'],
  ["a request to the daemon", '{"id":1,"method":"workflow.run","params":{"values":{"x":DEEP}}}'],
];

let inputs = 0;
afterAll(() => console.log(`hostile inputs: ${inputs}`));

async function meet(border: Border, seed: number, ...pinned: readonly string[]): Promise<void> {
  const from = performance.now();
  const found = await troubleOf(border, new Attacker(new SimRandom(seed), pinned));
  expect([`case ${seed}`, found]).toEqual([`case ${seed}`, "none"]);
  expect(performance.now() - from).toBeLessThan(MAX_MS);
  inputs += border.inputs;
}

/** BO1 of border.ts: what was thrown, and where. */
async function troubleOf(border: Border, attacker: Attacker): Promise<string> {
  try {
    await border.meet(attacker);
    return "none";
  } catch (error) {
    return error instanceof Error ? `${error}\n${error.stack?.slice(0, 2_000)}` : String(error);
  }
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

test.each(PINNED)("%s: %s", async (name, line) => {
  const border = BORDERS.find((one) => one.name === name);
  if (border === undefined) throw new Error(`there is no border ${name}`);
  await meet(border, 1, line.replaceAll("DEEP", "[".repeat(DEEP) + "]".repeat(DEEP)));
});

test("every input of the profile was tried: a million at night", () => {
  expect(inputs).toBeGreaterThanOrEqual(GOALS[PROFILE.name]);
});

test("every example of a request and of a frame is valid before it is attacked", () => {
  expect(wrongExamples()).toEqual([]);
});
