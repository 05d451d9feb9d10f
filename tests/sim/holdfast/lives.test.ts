// Lives of the whole daemon (main.ts): each story has up to three deaths, and two quiet lives after them.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { amount, PROFILE } from "../fuzz/profile.ts";
import { FOUND_BY_FAULTS } from "./found.ts";
import type { Plan } from "./plan.ts";

const STORIES = amount(508, 2_000);
const LIVES_FOR_EACH = 4;
/** Many times what they take. */
const LIMIT_MS = STORIES * 1_000;

/** Runs the stories of a seed, or of a plan; throws the last plan and what is wrong with it. */
async function tell(first: string, stories = 1) {
  const argv = [process.execPath, join(import.meta.dir, "main.ts"), first, String(stories)];
  const { stdout, exited } = Bun.spawn(argv, { stdout: "pipe", stderr: "inherit", timeout: LIMIT_MS });
  const lines = (await new Response(stdout).text()).trim().split("\n");
  if ((await exited) !== 0) throw new Error(`repeat it with its plan: ${lines.slice(-2).join("\n")}`);
  return JSON.parse(lines.at(-1) ?? "");
}

test(
  "EL-2 the whole daemon: what was acknowledged is there after every crash, and nothing is done twice",
  async () => {
    const tried = await tell(String(PROFILE.seed), STORIES);
    console.log(`the whole daemon: ${JSON.stringify(tried)}`);
    expect(tried.stories).toBe(STORIES);
    expect(tried.lives).toBeGreaterThan(STORIES * (LIVES_FOR_EACH - 1));
    expect(tried.deaths).toBeGreaterThan(STORIES); // Otherwise the plans strike too late.
  },
  LIMIT_MS,
);

/** Stories that have failed, or that would if a certain line were missing. */
const FOUND: readonly (readonly [string, Plan])[] = [
  [
    "a fork that fails ends no terminal",
    { seed: 1, lives: [{ ending: { kind: "power", at: 464 }, wishes: 2, fork: 1 }] },
  ],
  [
    "a holder that dies before its claim ends no terminal",
    { seed: 1, lives: [{ ending: { kind: "power", at: 464 }, wishes: 2, fork: 0, slow: "never" }] },
  ],
  [
    "a tmux session that is released while it is built does not stay half-built",
    {
      seed: 110048794,
      lives: [
        { ending: { kind: "tmux", at: 67 }, wishes: 5, fork: 0, slow: 2503 },
        {
          ending: { kind: "daemon", at: 256 },
          wishes: 5,
          fork: 0,
          troubled: { from: 10, times: 7, how: 25_000 },
        },
      ],
      tmux: true,
    },
  ],
  [
    "a daemon whose log has stopped ends soon",
    { seed: 3, lives: [{ ending: { kind: "sync", at: 120 }, wishes: 5, fork: 0 }] },
  ],
];

test.each([...FOUND, ...FOUND_BY_FAULTS])("%s", async (_, plan) => {
  expect((await tell(JSON.stringify(plan))).stories).toBe(1);
});
