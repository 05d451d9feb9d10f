// Which steps of a workflow file are done according to an older record.
// MM1. A step is done only if the file still says the same about it: by its id, or else by its command.
// MM2. Records that give only numbers are believed only if the file has as many steps as they count.
import { ok, type Result, refused } from "../../base/result.ts";
import { commandOf } from "./checkpoint.ts";
import { type Definition, type Phase, type Step, stepById, stepsOf } from "./definition.ts";
import type { OldRun, OldStep } from "./migrate-old.ts";

/** A step's place in the whole file. A map counts as one, and has no step here. */
export type FlatStep = { readonly phase: Phase; readonly index: number; readonly step: Step | undefined };

export type Matched = {
  readonly done: readonly { readonly at: FlatStep; readonly step: Step; readonly record: OldStep }[];
  /** Records that match no step of the file. */
  readonly gone: readonly OldStep[];
};

export function flatSteps(definition: Definition): FlatStep[] {
  const of = (phase: Phase) => stepsOf(definition, phase).map((step, index) => ({ phase, index, step }));
  if (definition.flow.mode !== "mapreduce") return of("steps");
  return [...of("setup"), { phase: "map", index: 0, step: undefined }, ...of("reduce")];
}

export function matchSteps(old: OldRun, definition: Definition): Result<Matched> {
  const flat = flatSteps(definition);
  const named = old.steps.every(({ id, command }) => id !== null || command !== null);
  if (!named && old.total !== flat.length) return countsDiffer(old.total, flat.length); // MM2
  const done = new Map<FlatStep, OldStep>();
  const gone: OldStep[] = [];
  for (const record of old.steps) {
    const at = placeOf(record, definition, flat);
    if (at === undefined) gone.push(record);
    else done.set(at, record);
  }
  const found = flat.flatMap((at) => {
    const record = done.get(at);
    return at.step === undefined || record === undefined ? [] : [{ at, step: at.step, record }];
  });
  return ok({ done: found, gone });
}

function countsDiffer(total: number | null, steps: number): Result<never> {
  const counted =
    total === null ? "does not say how many steps there are" : `has ${total} steps, and the file ${steps}`;
  const message = `The record gives only the numbers of finished steps, and ${counted}: they cannot be matched.`;
  return refused("steps-differ", message, "Use the file as it was then, or start a new run.");
}

/** MM1 */
function placeOf(record: OldStep, definition: Definition, flat: readonly FlatStep[]): FlatStep | undefined {
  const { id, command, index } = record;
  const here = flat[index];
  if (id !== null && stepById(definition, id) !== undefined) {
    const named = flat.find(({ step }) => step?.id === id);
    return named !== undefined && (command === null || sameCommand(named.step, command)) ? named : undefined;
  }
  if (command === null) return id === null && here?.step !== undefined ? here : undefined;
  if (sameCommand(here?.step, command)) return here;
  const same = flat.filter(({ step }) => sameCommand(step, command));
  return same.length === 1 ? same[0] : undefined;
}

function sameCommand(step: Step | undefined, command: string): boolean {
  return step !== undefined && plainCommand(commandOf(step)) === plainCommand(command);
}

/** Older records put the kind of a step before its text. */
function plainCommand(text: string): string {
  return text.replace(/^\s*(?:shell|claude|agent):\s*/, "").trim();
}
