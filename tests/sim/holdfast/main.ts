// Lives of the whole daemon, in a process of its own: `bun tests/sim/holdfast/main.ts SEED STORIES`. A killed process
// leaves promises behind that fail; a test runner would take them for failures of the test.
// Prints each plan before its story, then what was tried, or why the last one failed; each is a line of JSON. In place
// of a seed, a plan repeats its story. Without either it reads plans, and answers each with a line (teller.ts).

// The daemon loads it with the first workflow, which would take real time in the first story (ST1 of story.ts).
import "../../../src/wire/files/workflow-file.ts";
import { createInterface } from "node:readline";
import { Crashed } from "../faults.ts";
import { type Plan, planOf } from "./plan.ts";
import { Story } from "./story.ts";

// A fault's stack reaches from its call to the log (HA1 of harm.ts).
Error.stackTraceLimit = 50;
const [, , first, stories = "1"] = process.argv;
let story: Story | undefined;
process.on("unhandledRejection", (error) => {
  if (!(error instanceof Crashed)) story?.failed(error);
});

const say = (facts: object) => console.log(JSON.stringify(facts));

function tell(plan: Plan) {
  story = new Story(plan);
  return story.tell();
}

function reasonOf(error: unknown) {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { failed: reason, said: story?.said, faults: story?.faults };
}

async function tellAll(plans: readonly Plan[]): Promise<void> {
  const tried = { stories: 0, lives: 0, deaths: 0, moments: 0 };
  const began = performance.now();
  for (const plan of plans) {
    say(plan);
    const { lives, deaths, moments } = await tell(plan);
    tried.stories += 1;
    tried.lives += lives;
    tried.deaths += deaths;
    tried.moments += moments;
  }
  say({ ...tried, perSecond: Math.round((tried.lives * 1000) / (performance.now() - began)) });
}

async function answerAll(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin }))
    say(await tell(JSON.parse(line)).then((lived) => ({ lived }), reasonOf));
}

function plansOf(words: string): Plan[] {
  if (words.startsWith("{")) return [JSON.parse(words)];
  return Array.from({ length: Number(stories) }, (_, at) => planOf(Number(words) + at));
}

try {
  await (first === undefined ? answerAll() : tellAll(plansOf(first)));
} catch (error) {
  say(reasonOf(error));
  process.exit(1);
}
process.exit(0);
