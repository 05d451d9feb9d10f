// From a checked file to a definition: short forms are written out, and every step has an id.
// B1. An id that is made here follows from what the step does, not from where it is: a step put before it does not
//     rename it.

import { isList, isRecord, type Json } from "../../base/json.ts";
import type {
  CheckpointPolicy,
  Flow,
  MapInput,
  MapPhase,
  MaxFailures,
  Parameter,
  Retry,
  Sort,
  Step,
  Work,
} from "../../core/workflow/definition.ts";
import type { Path } from "../check.ts";
import { durationMs } from "./duration.ts";
import type { MapFile, StepFile, WorkflowFile } from "./workflow-shapes.ts";

const BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 60_000;
const PARALLEL = 4;

/** A flow, and the path of each of its steps in the file, by its id and in the file's order. */
export type Built = {
  readonly flow: Flow;
  readonly steps: readonly { readonly id: string; readonly path: Path }[];
};

export function buildFlow(file: WorkflowFile): Built {
  const builder = new Builder();
  const flow = builder.flow(file);
  return { flow, steps: builder.steps };
}

class Builder {
  readonly steps: { id: string; path: Path }[] = [];
  readonly #taken = new Set<string>();
  /** The number that each stem of made ids continues with. */
  readonly #used = new Map<string, number>();

  flow(file: WorkflowFile): Flow {
    this.#takeGiven(file as Json);
    const { mode, max_iterations = 1, until } = file;
    const steps = () => this.#steps(["steps"], file.steps);
    if (mode === "iterative") return { mode, steps: steps(), max_iterations, ...present({ until }) };
    if (mode !== "mapreduce" || file.map === undefined) return { mode: "standard", steps: steps() };
    const setup = this.#steps(["setup"], file.setup);
    return { mode, setup, map: this.#map(file.map), reduce: this.#steps(["reduce"], file.reduce) };
  }

  /** Ids that the file gives come first: one that is made here avoids them. */
  #takeGiven(value: Json): void {
    if (isList(value)) for (const one of value) this.#takeGiven(one);
    if (!isRecord(value)) return;
    if (typeof value["id"] === "string") this.#taken.add(value["id"]);
    for (const one of Object.values(value)) this.#takeGiven(one);
  }

  #steps(path: Path, steps: readonly StepFile[] = []): Step[] {
    return steps.map((step, at) => this.#step([...path, at], step));
  }

  #step(path: Path, file: StepFile): Step {
    const { when, cwd, env, timeout, retry, on_uncertain, idempotent, capture, continue_on_error } = file;
    const work = workOf(file);
    const id = file.id ?? this.#madeId(work);
    this.steps.push({ id, path: file.id === undefined ? path : [...path, "id"] });
    const on_failure = file.on_failure && this.#steps([...path, "on_failure"], file.on_failure);
    return {
      id,
      work,
      ...present({
        when: when === undefined ? undefined : String(when),
        ...{ cwd, env, timeout_ms: timeout === undefined ? undefined : durationMs(timeout), retry: retryOf(retry) },
        ...{ on_failure, on_uncertain, idempotent, capture: captureOf(capture), continue_on_error },
      }),
    };
  }

  /** B1 */
  #madeId(work: Work): string {
    const words =
      textOf(work)
        .toLowerCase()
        .match(/[a-z0-9_]+/g) ?? [];
    const stem = `${/^[a-z]/.test(words[0] ?? "") ? "" : `${work.kind}-`}${words.slice(0, 3).join("-")}`.slice(0, 40);
    let n = this.#used.get(stem) ?? 1;
    while (this.#taken.has(n === 1 ? stem : `${stem}-${n}`)) n += 1;
    this.#used.set(stem, n + 1);
    const id = n === 1 ? stem : `${stem}-${n}`;
    this.#taken.add(id);
    return id;
  }

  #map(file: MapFile): MapPhase {
    const { json_path, filter, max_items, max_parallel = PARALLEL, on_item_failure } = file;
    const of = file.steps === undefined ? "agent_template" : "steps";
    const steps = this.#steps(["map", of], file[of]);
    const max_failures = failuresOf(file.max_failures);
    const sort = sortOf(file.sort);
    const optional = present({ json_path, filter, sort, max_items, max_failures, on_item_failure });
    return { input: inputOf(file.input), ...optional, max_parallel, steps };
  }
}

/** The fields that are there. */
function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** What an id is made of. */
function textOf(work: Work): string {
  if (work.kind === "shell") return work.command;
  return work.kind === "set" ? `set ${Object.keys(work.values).join(" ")}` : work.prompt;
}

/** One of them is there: workflow-rules.ts has seen to that. */
function workOf({ shell, set, agent, claude = "" }: StepFile): Work {
  if (shell !== undefined) return { kind: "shell", command: shell };
  if (set !== undefined) return { kind: "set", values: set };
  return { kind: "agent", ...(agent ?? { provider: "claude", prompt: claude }) };
}

function retryOf(retry: StepFile["retry"]): Retry | undefined {
  if (retry === undefined) return undefined;
  const { attempts, backoff, max_backoff, exit_codes } = typeof retry === "number" ? { attempts: retry } : retry;
  const first = durationMs(backoff ?? "") ?? BACKOFF_MS;
  const longest = durationMs(max_backoff ?? "") ?? MAX_BACKOFF_MS;
  return { attempts, backoff_ms: first, max_backoff_ms: Math.max(first, longest), ...present({ exit_codes }) };
}

function captureOf(capture: StepFile["capture"]): Readonly<Record<string, string>> | undefined {
  return typeof capture === "string" ? { [capture]: "stdout" } : capture;
}

function inputOf(input: MapFile["input"]): MapInput {
  const { file = "", command, glob } = typeof input === "string" ? { file: input } : input;
  if (command !== undefined) return { kind: "command", command };
  return glob === undefined ? { kind: "file", path: file } : { kind: "glob", pattern: glob };
}

function failuresOf(most: MapFile["max_failures"]): MaxFailures | undefined {
  if (most === undefined) return undefined;
  return typeof most === "number" ? { items: most } : { percent: Number.parseFloat(most) };
}

function sortOf(sort: MapFile["sort"]): Sort | undefined {
  if (sort === undefined) return undefined;
  return typeof sort === "string"
    ? { by: sort, descending: false }
    : { by: sort.by, descending: sort.order === "descending" };
}

export function checkpointOf({ interval, before_step }: NonNullable<WorkflowFile["checkpoint"]>): CheckpointPolicy {
  return present({ interval_ms: interval === undefined ? undefined : durationMs(interval), before_step });
}

export function parametersOf(given: NonNullable<WorkflowFile["parameters"]>): Readonly<Record<string, Parameter>> {
  const all = Object.entries(given).map(([name, { type = "string", description, ...rest }]): [string, Parameter] => [
    name,
    { type, ...rest, ...present({ says: description }) },
  ]);
  return Object.fromEntries(all);
}
