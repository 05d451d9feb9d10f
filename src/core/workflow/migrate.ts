// How a run of an older program becomes one of ours (UC-10). Pure: from the record and the workflow file to the events.
// MG1. Nothing is guessed: what is not certain is refused with its reason, or becomes uncertain.
// MG2. The same record and file give the same parts, so that an interrupted migration continues where it was.
// MG3. Every value is restored; one of unknown origin counts as given at the start, so that a rollback does not lose
//      it.

import { equal, type Json, textOf } from "../../base/json.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { recorded } from "./capture.ts";
import { tooLarge } from "./decide-versions.ts";
import { type Definition, onUncertain, type Phase, type Step, stepsOf } from "./definition.ts";
import type { Created, Migrated, MigratedFrom, MigratedItem, MigratedStep, StepError } from "./events.ts";
import { MAX_CAPTURED, MAX_ITEM, MAX_ITEM_RESULT, MAX_MESSAGE, sizeOf } from "./limits.ts";
import { type Matched, matchSteps } from "./migrate-match.ts";
import type { OldItem, OldMap, OldRun } from "./migrate-old.ts";
import { checkParameters } from "./parameters.ts";

/** What the world adds to a record: the file, and where steps run. */
export type MigrationPlace = Omit<Created, "name" | "parameters" | "at"> & { readonly source: MigratedFrom };

export type MigrationPlan = {
  readonly created: Created;
  readonly parts: readonly Migrated[];
  /** What a person should know. */
  readonly notes: readonly string[];
};

type At = { readonly phase: Phase; readonly iteration: number; readonly index: number };

const MAY_RUN = "it may have been running when the older program last wrote; nothing says how it ended";

export function planMigration(old: OldRun, place: MigrationPlace): Result<MigrationPlan> {
  const { definition } = place;
  const other = wrongMode(old, definition);
  if (other !== undefined) return other;
  const matched = matchSteps(old, definition);
  if (!matched.ok) return matched;
  const steps = stepsDone(old, matched.value);
  const at = placeAt(old, definition, matched.value);
  const items = itemsOf(old.map, definition, old.startedAt);
  const large = tooLong(steps, items);
  if (large !== undefined) return large;
  const created = createdOf(old, place, steps);
  if (!created.ok) return created;
  const ending = endingOf(old, definition, at);
  const kept = matched.value.done.flatMap((one) =>
    one.at.phase === at.phase && one.at.index > at.index ? [one.step.id] : [],
  );
  const variables = leftOver(old, created.value.parameters, steps);
  if (sizeOf(variables) > MAX_CAPTURED) return tooMuch("The values that steps have changed", sizeOf(variables));
  const complete = old.map !== null && old.map.items.length > 0;
  const rest = { source: place.source, ...at, kept, variables, complete, ...ending, at: old.updatedAt };
  return ok({
    created: created.value,
    parts: partsOf(steps, items, rest, sizeOf(created.value) < PART_BYTES ? PART_BYTES : 0),
    notes: notesOf(old, matched.value, at),
  });
}

function wrongMode(old: OldRun, { flow }: Definition): Result<never> | undefined {
  const maps = flow.mode === "mapreduce";
  if (maps === (old.map !== null)) return undefined;
  const message = maps
    ? "The file is a map-reduce, but the record is not."
    : `The record is of a map-reduce, but the file is ${flow.mode}.`;
  return refused("other-mode", message, "Name the file it was run from: --workflow FILE");
}

function stepsDone({ iteration }: OldRun, { done }: Matched): MigratedStep[] {
  return done.map(({ at: { phase, index }, step, record }) => ({
    step: step.id,
    phase,
    iteration,
    index,
    variables: record.variables,
    output: record.output === null ? null : recorded(record.output),
    duration_ms: record.durationMs,
    at: record.at,
  }));
}

/** The first step that is not done. */
function placeAt({ iteration, map }: OldRun, definition: Definition, { done }: Matched): At {
  const phase: Phase = map === null ? "steps" : map.reducing ? "reduce" : map.setupDone ? "map" : "setup";
  if (phase === "map") return { phase, iteration: 1, index: 0 };
  const ended = new Set(done.filter(({ at }) => at.phase === phase).map(({ at }) => at.index));
  const steps = stepsOf(definition, phase);
  const open = steps.findIndex((_, index) => !ended.has(index));
  return { phase, iteration, index: open < 0 ? steps.length : open };
}

function itemsOf(map: OldMap | null, definition: Definition, startedAt: string): MigratedItem[] {
  const steps = stepsOf(definition, "map");
  const step = steps[0]?.id ?? "";
  const asks = steps.some((one) => onUncertain(one) !== "rerun");
  return (map?.items ?? []).map(({ value, state, result, message, tries, at }: OldItem) => ({
    value,
    state: state === "working" ? (asks ? "uncertain" : "pending") : state,
    step,
    result: sizeOf(result) <= MAX_ITEM_RESULT ? result : { truncated: textOf(result).slice(0, MAX_ITEM_RESULT / 6) },
    message: state === "working" ? MAY_RUN : (message?.slice(0, MAX_MESSAGE) ?? null),
    tries,
    at: at === "" ? startedAt : at,
  }));
}

function tooLong(steps: readonly MigratedStep[], items: readonly MigratedItem[]): Result<never> | undefined {
  const wide = steps.find(({ variables }) => sizeOf(variables) > MAX_CAPTURED);
  if (wide !== undefined) return tooMuch(`What step ${wide.step} captured`, sizeOf(wide.variables));
  const at = items.findIndex(({ value }) => sizeOf(value) > MAX_ITEM);
  return at < 0 ? undefined : tooMuch(`Item ${at}`, sizeOf(items[at]?.value));
}

function tooMuch(what: string, bytes: number): Result<never> {
  return refused("too-large", `${what} has ${bytes} bytes.`, "That does not fit into a log: start a new run.");
}

/** MG3 */
function createdOf(old: OldRun, place: MigrationPlace, steps: readonly MigratedStep[]): Result<Created> {
  const { source: _source, definition, ...where } = place;
  const asked = Object.keys(definition.parameters ?? {}).filter((name) => Object.hasOwn(old.variables, name));
  const given = checkParameters(
    definition,
    Object.fromEntries(asked.map((name) => [name, old.variables[name] ?? null])),
  );
  if (!given.ok) {
    const hint = "Give it a default in the file, then migrate again.";
    return refused(given.error.code, `${given.error.message} The record does not have it.`, hint);
  }
  const captured = new Set(steps.flatMap(({ variables }) => Object.keys(variables)));
  const others = Object.entries(old.variables).filter(([name]) => !captured.has(name));
  const parameters = { ...Object.fromEntries(others), ...given.value };
  const data = { ...where, name: definition.name, definition, parameters, at: old.startedAt };
  const wrong = tooLarge(data);
  return wrong === undefined ? ok(data) : { ok: false, error: wrong };
}

/** The older program's values that the fold of the records would not give. */
function leftOver(old: OldRun, parameters: Created["parameters"], steps: readonly MigratedStep[]) {
  const folded: Record<string, Json> = Object.assign({}, parameters, ...steps.map(({ variables }) => variables));
  const differs = ([name, value]: [string, Json]) => !equal(value, folded[name] ?? null);
  return Object.fromEntries(Object.entries(old.variables).filter(differs));
}

type Ending = Pick<Migrated, "uncertain" | "error">;

function endingOf(old: OldRun, definition: Definition, { phase, index }: At): Ending {
  const step = phase === "map" ? undefined : stepsOf(definition, phase)[index];
  if (old.status === "failed") return { uncertain: null, error: errorOf(old, step) };
  if (old.status !== "running" || step === undefined) return { uncertain: null, error: null };
  const policy = onUncertain(step);
  if (policy === "fail") return { uncertain: null, error: errorOf({ ...old, error: `It ${MAY_RUN.slice(3)}.` }, step) };
  return { uncertain: policy === "rerun" ? null : { step: step.id, reason: MAY_RUN }, error: null };
}

function errorOf({ error, retryable }: Pick<OldRun, "error" | "retryable">, step: Step | undefined): StepError {
  const message = (error ?? "It failed; the older record does not say why.").slice(0, MAX_MESSAGE);
  return { step: step?.id ?? "", message, exit_code: null, retryable };
}

/** MG2. A quarter of a transaction: the last part also has values, and the first the definition if that is small. */
const PART_BYTES = 256 << 10;

type Rest = Omit<Migrated, "part" | "parts" | "records" | "items">;

function partsOf(
  steps: readonly MigratedStep[],
  items: readonly MigratedItem[],
  rest: Rest,
  firstBytes: number,
): Migrated[] {
  const pages: { records: MigratedStep[]; items: MigratedItem[] }[] = [{ records: [], items: [] }];
  let room = firstBytes;
  const page = (bytes: number) => {
    if (bytes > room) pages.push({ records: [], items: [] });
    room = (bytes > room ? PART_BYTES : room) - bytes;
    return pages.at(-1);
  };
  for (const step of steps) page(sizeOf(step))?.records.push(step);
  for (const item of items) page(sizeOf(item))?.items.push(item);
  return pages.map((one, at) => ({
    ...rest,
    ...(at === pages.length - 1 ? {} : { variables: {}, kept: [] }),
    part: at + 1,
    parts: pages.length,
    ...one,
  }));
}

function notesOf(old: OldRun, { gone }: Matched, { phase, index }: At): string[] {
  const lost = gone.map(({ index: at, command, id }) => {
    const name = id ?? command?.split("\n")[0]?.slice(0, 60) ?? "";
    const which = at < 0 ? "a step" : `step ${at + 1}`;
    return `${which} (${name}) is done in the record, and the file has no such step: what it did stays done`;
  });
  const stood = old.current !== null && phase === "steps" && old.current !== index && old.status !== "done";
  return stood
    ? [...lost, `the record stood at step ${(old.current ?? 0) + 1}; the run continues at step ${index + 1}`]
    : lost;
}
