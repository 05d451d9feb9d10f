// The whole daemon in the simulated world against hostile agents, steps, clients and files (daemon-story.ts).
import { afterAll, expect, test } from "bun:test";
import { PROFILE, seeded } from "../profile.ts";
import { HostileStory } from "./daemon-story.ts";

const STORIES = { ci: 2, full: 200, nightly: 4_000 }[PROFILE.name];

let inputs = 0;
afterAll(() => console.log(`hostile inputs: ${inputs}`));

async function tell(seed: number): Promise<void> {
  const story = new HostileStory(seed);
  try {
    await story.tell();
  } catch (error) {
    throw new Error(`story ${seed}: ${String(error)}`, { cause: error });
  }
  inputs += story.inputs;
}

test("DS1 one hostile agent, run, terminal and client: the daemon lives, the next is LIVE, the others are as before", async () => {
  const first = seeded(701).int(2 ** 31);
  for (let at = 0; at < STORIES; at += 1) await tell(first + at);
  expect(inputs).toBeGreaterThan(STORIES * 20);
}, 3_600_000);
