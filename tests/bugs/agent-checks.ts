// The checks that catch the deliberate bugs in the agents' part: the stories of tests/agent on the simulated machine,
// with a crash after each kind of event that matters, stopping at the first broken promise. Each returns how much it
// tried.
import type { AgentEvent } from "../../src/core/agent/events.ts";
import type { AgentSimulation, SimCrash } from "../agent/sim-drive.ts";
import { type Told, tell, tellEagerly, tellOfCrashes } from "../agent/sim-stories.ts";
import { strays } from "../agent/sim-strays.ts";
import { BrokenPromise, ensure } from "../sim/log/oracle.ts";
import { type Chooser, everything, nothing } from "../sim/survive.ts";

export const AGENT_CHECKS = {
  "agents: the daemon dies": () => sweep(tell, after, (at) => ({ at })),
  "agents: the machine goes down": () =>
    sweep(tell, after, (at) => ({ at, machine: at % 2 === 0 ? nothing : everything })),
  "agents: the power goes in mid-write": () => sweep(tell, before, (at) => ({ at, machine: half })),
  "agents: eager programs, and the machine goes down": () =>
    sweep(tellEagerly, before, (at) => ({ at, machine: nothing })),
  "agents: a crash loop, and the daemon dies": () => sweep(tellOfCrashes, after, (at) => ({ at })),
  "agents: strays": setsStraysAside,
} as const satisfies Readonly<Record<string, () => Promise<number>>>;

type Tell = (...crashes: readonly SimCrash[]) => Promise<Told>;
type Choose = (calm: AgentSimulation) => readonly number[];

/** The first half of every write. */
const half: Chooser = (op) => (op.kind === "write" ? { kind: "torn", bytes: op.bytes.length >> 1 } : { kind: "whole" });

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

async function sweep(tellIt: Tell, choose: Choose, crash: (at: number) => SimCrash): Promise<number> {
  const calm = await promised(() => tellIt());
  const moments = choose(calm.simulation);
  for (const at of moments) {
    const { end } = await promised(() => tellIt(crash(at)));
    const [is, should] = [end, calm.end].map((one) => JSON.stringify(one));
    ensure(is === should, `with a crash at ${at} it comes to ${is}, without to ${should}`);
  }
  return moments.length;
}

/** The first moment after each: it is durable, and its consequences are not. */
function after({ heard, moments, calls }: AgentSimulation): number[] {
  const chosen = EVENTS.flatMap((name) => {
    const found = placesOf(heard, name);
    return [found[0], found.at(-1)].flatMap((event) => (event === undefined ? [] : [event]));
  });
  const found = chosen.map((event) => moments.findIndex(({ events }) => events > event));
  return [...new Set(found)].filter((at) => at >= 0 && at < calls).sort((a, b) => a - b);
}

/** The last two moments before a call of a tool is answered: it is decided and being written. */
function before({ heard, moments }: AgentSimulation): number[] {
  const found = placesOf(heard, "tool.answered").flatMap((event) => {
    const last = moments.findLastIndex(({ events }) => events <= event);
    return [last - 1, last];
  });
  return [...new Set(found)];
}

function placesOf(heard: readonly AgentEvent[], name: string): number[] {
  return [...heard.entries()].flatMap(([at, { event }]) => (event === name ? [at] : []));
}

/** Anything the simulation's oracle finds is a broken promise; B3 of bugs.ts requires that it is the right one. */
async function promised<T>(live: () => Promise<T>): Promise<T> {
  try {
    return await live();
  } catch (error) {
    throw new BrokenPromise(error instanceof Error ? error.message : String(error));
  }
}

async function setsStraysAside(): Promise<number> {
  const wrong = await strays();
  ensure(wrong.length === 0, wrong.join("\n"));
  return 1;
}
