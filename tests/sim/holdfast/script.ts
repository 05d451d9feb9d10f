// What a script of the sweep says (sweep.ts), and what came of it; both are sent between processes as JSON (teller.ts).
import type { Json } from "../../../src/base/json.ts";
import type { Definition } from "../../../src/core/workflow/definition.ts";
import type { EndOfRun } from "./end-of-run.ts";
import type { TerminalFacts } from "./terminal-facts.ts";
import type { Mark } from "./witness.ts";

/** A valid id for each number; sockets are named after its first digits. */
export function idOf(number: number): string {
  return `${number.toString(16).padStart(4, "0").padEnd(12, "0")}4${"0".repeat(3)}8${"0".repeat(15)}`;
}

/** Which of its unsynced writes a disk keeps: a number is the seed of a random choice, `nth` one of `survivors`. */
export type Keep = "nothing" | "everything" | number | { readonly nth: number };

/** `items`: for a map. */
export type RunWish = {
  readonly kind: "run";
  readonly id: string;
  readonly definition: Definition;
  readonly items: readonly Json[];
};

/** One terminal, which is typed into in each life until two checkpoints have seen it. */
export type TerminalWish = { readonly kind: "terminal" };

/** What happens so many moments (SM2 of ../machine.ts) after the blow before it. */
export type Blow =
  | { readonly kind: "daemon" | "interrupt"; readonly after: number }
  | { readonly kind: "power"; readonly after: number; readonly keep: Keep };

/** In order; wishes are made as soon as there is a daemon. */
export type Script = readonly (RunWish | TerminalWish | Blow)[];

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

export type Lived = {
  readonly terminal?: LivedTerminal;
  /** In how many ways the last power cut could have ended (`nth`). */
  readonly endings: number;
  readonly runs: Readonly<Record<string, LivedRun>>;
  /** What agents have noted, sorted. */
  readonly notes: readonly string[];
  /** How often each event is in the logs. */
  readonly events: Readonly<Record<string, number>>;
  /** The moments until all was over, in order. */
  readonly moments: readonly string[];
  /** How many blows have struck. */
  readonly struck: number;
  /** When all was over, in simulated time. */
  readonly tookMs: number;
};
