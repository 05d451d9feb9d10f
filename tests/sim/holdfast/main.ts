// Lives of the whole daemon, in a process of its own: `bun tests/sim/holdfast/main.ts SEED STORIES`. A killed process
// leaves promises behind that fail; a test runner would take them for failures of the test.
// Prints one JSON object: what was tried, or which seed failed and why. The same seed with one story repeats it.
import { Crashed } from "../faults.ts";
import { planOf, Story } from "./story.ts";

const [, , first = "1", count = "1"] = process.argv;
let story: Story | undefined;
process.on("unhandledRejection", (error) => {
  if (!(error instanceof Crashed)) story?.failed(error);
});

const began = performance.now();
const tried = { stories: 0, lives: 0, deaths: 0, moments: 0 };
for (let seed = Number(first); seed < Number(first) + Number(count); seed += 1) {
  const plan = planOf(seed);
  story = new Story(plan);
  try {
    const { lives, deaths, moments } = await story.tell();
    tried.stories += 1;
    tried.lives += lives;
    tried.deaths += deaths;
    tried.moments += moments;
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    console.log(JSON.stringify({ failed: reason, plan, said: story.said }, undefined, 1));
    process.exit(1);
  }
}
const perSecond = Math.round((tried.lives * 1000) / (performance.now() - began));
console.log(JSON.stringify({ ...tried, perSecond }));
process.exit(0);
