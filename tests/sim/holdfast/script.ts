// What a script of the sweep says (sweep.ts), and what came of it; both are sent between processes as JSON (teller.ts).
import type { Json } from "../../../src/base/json.ts";
import type { Definition } from "../../../src/core/workflow/definition.ts";
import type { Given } from "../../agent/sim-actor.ts";
import type { Asked } from "../../agent/sim-model.ts";
import type { Logged } from "../../agent/sim-oracle.ts";
import type { EndOfRun } from "./end-of-run.ts";
import type { TerminalFacts } from "./terminal-facts.ts";
import type { Mark } from "./witness.ts";

/** A valid id for each number; sockets are named after its first digits. */
export function idOf(number: number): string {
  return `${number.toString(16).padStart(4, "0").padEnd(12, "0")}4${"0".repeat(3)}8${"0".repeat(15)}`;
}

/**
 * Which of its unsynced writes a disk keeps: a number is the seed of a random choice, `nth` one of `survivors`, `half`
 * the first half of every write.
 */
export type Keep = "nothing" | "everything" | "half" | number | { readonly nth: number };

/** `items`: for a map. */
export type RunWish = {
  readonly kind: "run";
  readonly id: string;
  readonly definition: Definition;
  readonly items: readonly Json[];
};

/** One terminal, which is typed into in each life until two checkpoints have seen it. */
export type TerminalWish = { readonly kind: "terminal" };

/** An agent terminates once everything rests. */
export type AgentWish =
  | { readonly kind: "agent"; readonly id: string; readonly provider: Provider; readonly instructions: string }
  | { readonly kind: "message"; readonly id: string; readonly message: string; readonly text: string }
  | { readonly kind: "termination"; readonly id: string };

/** A scripted program, or a bare LLM. */
export type Provider = "actor" | "model";

/**
 * What kind of a life it is. `eager`: programs of agents answer everything at once, so that output arrives while
 * earlier events are being written. `slow`: how long the next holder takes to start; `never`: it dies before it does
 * anything. `heed`: the durable events are told, with their number at each moment.
 */
export type Trait =
  | { readonly kind: "eager" }
  | { readonly kind: "heed" }
  | { readonly kind: "slow"; readonly ms: number | "never" };

/** What happens so many moments (SM2 of ../machine.ts) after the blow before it. */
export type Blow =
  | { readonly kind: "daemon" | "interrupt"; readonly after: number }
  /** Another host takes the home over, with the logs and without what its holders have written. */
  | { readonly kind: "taken"; readonly after: number }
  | { readonly kind: "power"; readonly after: number; readonly keep: Keep }
  /** One of the agents' programs, or one of the holders, dies alone. */
  | { readonly kind: "program" | "holder"; readonly after: number; readonly which: number }
  /** The disk takes so many bytes more, for so long. */
  | { readonly kind: "full"; readonly after: number; readonly room: number; readonly ms: number };

/** In order; wishes are made as soon as there is a daemon. */
export type Script = readonly (RunWish | TerminalWish | AgentWish | Trait | Blow)[];

/** A run, as it was in the end. */
export type LivedRun = {
  readonly end: EndOfRun;
  readonly marks: readonly Mark[];
  /** The attempts that a person, or the file, agreed to repeat. */
  readonly consents: readonly string[];
};

export type LivedTerminal = {
  readonly generation: number;
  /** Where on the tape this generation begins. */
  readonly startAt: number;
  /** What was typed in the last life. */
  readonly lines: readonly string[];
  readonly facts: TerminalFacts;
  /** What was synced when the power was cut, each time. */
  readonly kept: readonly TerminalFacts[];
};

/** What became of an agent; the same however often it was disturbed. `asked`: the last request to its model. */
export type EndOfAgent = {
  readonly name: string;
  readonly by?: string;
  readonly result?: string;
  readonly asked?: string;
};

export type Heard = { readonly id: string; readonly event: string; readonly data: Logged["data"] };

export type LivedAgents = {
  readonly ends: readonly EndOfAgent[];
  readonly logs: Readonly<Record<string, readonly Logged[]>>;
  /** What programs and models were given, in order. */
  readonly given: readonly Given[];
  readonly asked: readonly (readonly Asked[])[];
  /** When each note was made, and whether the end of what programs have said may be lost. */
  readonly noted: readonly number[];
  readonly isHarmed: boolean;
  /** `heed`: what became durable, in order; and at each moment how much of it, and how many turns had ended. */
  readonly heard: readonly Heard[];
  readonly progress: readonly { readonly events: number; readonly ended: number }[];
};

export type Lived = {
  readonly terminal?: LivedTerminal;
  readonly agents?: LivedAgents;
  /** In how many ways the last power cut could have ended (`nth`). */
  readonly endings: number;
  readonly runs: Readonly<Record<string, LivedRun>>;
  /** What agents have noted, sorted. */
  readonly notes: readonly string[];
  /** How often each event is in the logs. */
  readonly events: Readonly<Record<string, number>>;
  /** The moments until all was over, in order. */
  readonly moments: readonly string[];
  /** How many blows have struck, and how many calls have failed for it. */
  readonly struck: number;
  readonly faults: number;
  /** When all was over, in simulated time. */
  readonly tookMs: number;
};
