// Lives of the whole daemon (main.ts): each story has up to three deaths and two quiet lives after them.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { amount, PROFILE } from "../fuzz/profile.ts";

const STORIES = amount(40, 50_000);
const TIMEOUT_MS = 4 * 3_600_000;

/** The stories from this seed on; throws what the program printed if one fails. */
async function told(seed: number, stories: number) {
  const argv = [process.execPath, join(import.meta.dir, "main.ts"), String(seed), String(stories)];
  const { stdout, exited } = Bun.spawn(argv, { stdout: "pipe", stderr: "inherit" });
  const said = await new Response(stdout).text();
  if ((await exited) !== 0) throw new Error(`${argv.slice(1, 2)} ${said}`);
  return JSON.parse(said);
}

test(
  "EL-2 the whole daemon: what was acknowledged is there after every crash, and nothing is done twice",
  async () => {
    const tried = await told(PROFILE.seed, STORIES);
    console.log(`the whole daemon: ${JSON.stringify(tried)}`);
    expect(tried.stories).toBe(STORIES);
    expect(tried.deaths).toBeGreaterThan(STORIES / 2); // Otherwise the plans strike too late.
  },
  TIMEOUT_MS,
);
