// What an operator was promised, and what it finds: the oracle of a life.
// ME1. What was acknowledged is there afterwards with its acknowledged facts; a request without an answer was carried
//      out once or not at all.
// ME2. In the end every terminal runs that was not ended by its user, every run is done, and every message was read.
// ME3. Nothing is done twice without consent.
import type { Terminal } from "../../../src/core/terminal/terminal.ts";
import type { ListedAgent } from "../../../src/wire/rpc/agent.ts";
import type { ListedTmux } from "../../../src/wire/rpc/rpc.ts";
import type { ListedRun } from "../../../src/wire/rpc/workflow.ts";
import type { Witness } from "./witness.ts";

type Answer = "no" | "asked" | "acknowledged";
/** `names`: those that it may have. */
export type KnownTerminal = { names: Set<string>; readonly argv: string; ending: Answer; removal: Answer };
/** `texts`: what its messages make it note, by their ids. A `model` is told them (model-user.ts). */
export type KnownAgent = {
  readonly provider: "scripted" | "model";
  created: Answer;
  readonly texts: Map<string, { readonly note: string; sent: Answer }>;
};
export type Found = {
  readonly terminals: readonly Terminal[];
  readonly runs: readonly ListedRun[];
  readonly agents: readonly ListedAgent[];
  /** None, unless the story has tmux. */
  readonly tmux: readonly ListedTmux[];
};

export class Memory {
  /** All names that were ever asked for. */
  readonly names = new Set<string>();
  readonly terminals = new Map<string, KnownTerminal>();
  readonly lines = new Set<string>();
  readonly runs = new Map<string, Answer>();
  readonly agents = new Map<string, KnownAgent>();
  /** Attempts that may be repeated. */
  readonly consents = new Set<string>();

  /** ME1: what is wrong, in any life. */
  wrong({ terminals, runs, agents }: Found): string[] {
    const known = [...this.terminals].flatMap(([id, facts]) => this.#ofTerminal(id, facts, terminals));
    const names = terminals.map(({ name }) => name);
    return [
      ...known,
      ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `two terminals are called ${name}`),
      ...names.filter((name) => !this.names.has(name)).map((name) => `nobody asked for ${name}`),
      ...missing("run", this.runs, new Set(runs.map(({ id }) => id))),
      ...missing("agent", created(this.agents), new Set(agents.map(({ id }) => id))),
    ];
  }

  #ofTerminal(id: string, facts: KnownTerminal, terminals: readonly Terminal[]): string[] {
    const found = terminals.find((terminal) => terminal.id === id);
    if (facts.removal === "acknowledged") return found === undefined ? [] : [`${id} is back after it was removed`];
    if (found === undefined) return facts.removal === "asked" ? [] : [`the terminal ${id} is gone`];
    const argv = found.recipe.argv.join(" ");
    return [
      ...(facts.names.has(found.name) ? [] : [`${id} is called ${found.name}, not ${[...facts.names]}`]),
      ...(argv === facts.argv ? [] : [`${id} has become ${argv}`]),
      ...(found.state.kind === "ended" && facts.ending === "no" ? [`${id} ended: ${JSON.stringify(found)}`] : []),
    ];
  }

  /** ME2: why this is not the end yet. */
  unfinished(found: Found, { notes }: Witness): string[] {
    const open = found.terminals.filter(({ id, state }) => this.terminals.has(id) && !isSettled(state.kind));
    const scripted = [...this.agents.values()].filter(({ provider }) => provider === "scripted");
    const read = scripted.flatMap(({ texts }) => [...texts.values()]);
    return [
      ...open.map(({ id, state }) => `the terminal ${id} is ${JSON.stringify(state)}`),
      ...found.runs.filter(({ state }) => state !== "done").map(({ id, state }) => `the run ${id} is ${state}`),
      ...found.agents.filter(isBusy).map(({ id, state, note }) => `the agent ${id} is ${state}: ${note}`),
      ...read.filter(({ note, sent }) => sent === "acknowledged" && !notes.includes(note)).map(({ note }) => note),
    ];
  }

  /** ME3 */
  doneTwice({ marks, notes, typed }: Witness): string[] {
    const again = marks.filter(
      ({ mark, attempt }, at) => !this.consents.has(attempt) && marks.slice(at + 1).some((one) => one.mark === mark),
    );
    return [
      ...again.map(({ mark }) => `${mark} was done twice`),
      ...notes.filter((note, at) => notes.indexOf(note) !== at).map((note) => `${note} was noted twice`),
      ...[...this.lines].filter((line) => !typed.has(line)).map((line) => `${line} was acknowledged and not typed`),
    ];
  }
}

function isSettled(kind: Terminal["state"]["kind"]): boolean {
  return kind === "running" || kind === "ended";
}

/** One without a turn rests, whether or not its process has left meanwhile (`suspended`). */
function isBusy({ inbox, turnStartedAt, note }: ListedAgent): boolean {
  return inbox > 0 || turnStartedAt !== null || note !== null;
}

function created(agents: ReadonlyMap<string, KnownAgent>): Map<string, Answer> {
  return new Map([...agents].map(([id, agent]) => [id, agent.created]));
}

function missing(what: string, asked: ReadonlyMap<string, Answer>, found: ReadonlySet<string>): string[] {
  const lost = [...asked].filter(([id, answer]) => answer === "acknowledged" && !found.has(id));
  return lost.map(([id]) => `the ${what} ${id} is gone`);
}
