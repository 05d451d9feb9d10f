// Lives of the whole daemon, in a process of its own: `bun tests/sim/holdfast/main.ts SEED STORIES`. A killed process
// leaves promises behind that fail; a test runner would take them for failures of the test.
// Prints each plan before its story, then what was tried, or why the last one failed; each is a line of JSON. In place
// of a seed, a plan repeats its story.

// The daemon loads it with the first workflow, which would take real time in the first story (ST1 of story.ts).
import "../../../src/wire/files/workflow-file.ts";
import { Crashed } from "../faults.ts";
import { type Plan, planOf } from "./plan.ts";
import { Story } from "./story.ts";

// A fault's stack reaches from its call to the log (HA1 of harm.ts).
Error.stackTraceLimit = 50;
const [, , first = "1", stories = "1"] = process.argv;
let story: Story | undefined;
process.on("unhandledRejection", (error) => {
  if (!(error instanceof Crashed)) story?.failed(error);
});

const say = (facts: object) => console.log(JSON.stringify(facts));
const plans: Plan[] = first.startsWith("{")
  ? [JSON.parse(first)]
  : Array.from({ length: Number(stories) }, (_, at) => planOf(Number(first) + at));
const tried = { stories: 0, lives: 0, deaths: 0, moments: 0 };
const began = performance.now();
for (const plan of plans) {
  say(plan);
  story = new Story(plan);
  try {
    const { lives, deaths, moments } = await story.tell();
    tried.stories += 1;
    tried.lives += lives;
    tried.deaths += deaths;
    tried.moments += moments;
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say({ failed: reason, said: story.said, faults: story.faults });
    process.exit(1);
  }
}
const perSecond = Math.round((tried.lives * 1000) / (performance.now() - began));
say({ ...tried, perSecond });
process.exit(0);
