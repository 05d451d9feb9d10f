// The checks that catch the deliberate bugs in the agents' part: the stories of tests/agent on a simulated machine with
// the whole daemon, with a crash after each kind of event that matters, stopping at the first broken promise. Each
// returns how much it tried.
import type { AgentEvent } from "../../src/core/agent/events.ts";
import { CRASHES, EAGER_STORY, STORY } from "../agent/sim-stories.ts";
import { strays } from "../agent/sim-strays.ts";
import type { Blow, Heard, Lived, LivedAgents, Script } from "../sim/holdfast/script.ts";
import { heedUnhandled, live } from "../sim/holdfast/sweep.ts";
import { BrokenPromise, ensure } from "../sim/log/oracle.ts";

export const AGENT_CHECKS = {
  "agents: the daemon dies": () => sweep(STORY, after, dies),
  "agents: the machine goes down": () =>
    sweep(STORY, after, (at) => ({ kind: "power", after: at, keep: at % 2 === 0 ? "nothing" : "everything" })),
  "agents: the power goes in mid-write": inMidWrite,
  "agents: eager programs, and the machine goes down": () =>
    sweep(EAGER_STORY, before, (at) => ({ kind: "power", after: at, keep: "nothing" })),
  "agents: a crash loop, and the daemon dies": () => sweep(CRASHES, after, dies),
  "agents: strays": setsStraysAside,
} as const satisfies Readonly<Record<string, () => Promise<number>>>;

type Told = { readonly end: string; readonly agents: LivedAgents };
type Choose = (calm: Told) => readonly number[];

const dies = (at: number): Blow => ({ kind: "daemon", after: at });

/** After each of these, the first and the last one, a process dies. */
const EVENTS: readonly AgentEvent["event"][] = [
  "agent.created",
  "message.enqueued",
  "turn.start",
  "tool.answered",
  "reminder.set",
  "input.taken",
  "prompt.opened",
  "prompt.answered",
  "process.ended",
  "turn.complete",
];

async function sweep(story: Script, choose: Choose, blow: (at: number) => Blow): Promise<number> {
  heedUnhandled();
  const calm = await promised(() => live([{ kind: "heed" }, ...story]));
  const places = choose(calm);
  for (const at of places) {
    const { end } = await promised(() => live([...story, blow(at)]));
    ensure(end === calm.end, `with a crash at ${at} it comes to ${end}, without to ${calm.end}`);
  }
  return places.length;
}

/** In the middle, and anywhere: between which two lines a write is torn decides what is seen. */
const TORN = ["half", ...Array.from({ length: 16 }, (_, at) => at + 1)] as const;

async function inMidWrite(): Promise<number> {
  let tried = 0;
  for (const keep of TORN) tried += await sweep(STORY, before, (at) => ({ kind: "power", after: at, keep }));
  return tried;
}

/** The first moment after each: it is durable, and its consequences are not. */
function after({ agents: { heard, progress } }: Told): number[] {
  const chosen = EVENTS.flatMap((name) => {
    const found = placesOf(heard, name);
    return [found[0], found.at(-1)].flatMap((event) => (event === undefined ? [] : [event]));
  });
  const found = chosen.map((event) => progress.findIndex(({ events }) => events > event));
  return [...new Set(found)].filter((at) => at >= 0).sort((a, b) => a - b);
}

/** The last two moments before a call of a tool is answered: it is decided and being written. */
function before({ agents: { heard, progress } }: Told): number[] {
  const found = placesOf(heard, "tool.answered").flatMap((event) => {
    const last = progress.findLastIndex(({ events }) => events <= event);
    return [last - 1, last];
  });
  return [...new Set(found)];
}

function placesOf(heard: readonly Heard[], name: string): number[] {
  return [...heard.entries()].flatMap(([at, { event }]) => (event === name ? [at] : []));
}

/** Anything the simulation's oracle finds is a broken promise; B3 of bugs.ts requires that it is the right one. */
async function promised(told: () => Promise<Lived>): Promise<Told> {
  try {
    const { agents, notes } = await told();
    if (agents === undefined) throw new Error("there are no agents");
    return { end: JSON.stringify([notes, agents.ends]), agents };
  } catch (error) {
    throw new BrokenPromise(error instanceof Error ? error.message : String(error));
  }
}

async function setsStraysAside(): Promise<number> {
  const wrong = await strays();
  ensure(wrong.length === 0, wrong.join("\n"));
  return 1;
}
