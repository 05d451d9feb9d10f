// A workflow as its file says it: checked, with short forms expanded, and otherwise as written. It is part of a run's
// first
// event and thus on disk: fields are added, and never change their meaning.
// D1. What the file does not say is absent here (a file of ten thousand steps stays small); `stepOf…` functions have
//     the defaults.
// D2. Texts with `${…}` stay texts: they are evaluated when needed, by the rules of template.ts.
// D3. Ids are unique in the whole file, including those of `on_failure` steps: an id and an item name a step for good.
import type { Json } from "../../base/json.ts";
import { WORKTREE_STEP, type Worktree, worktreeWords } from "./worktree.ts";

export type ParameterType = "string" | "number" | "boolean" | "list" | "object";

export type Parameter = {
  readonly type: ParameterType;
  readonly required?: boolean;
  readonly default?: Json;
  /** Its value is in no event and no file (PA1 of parameters.ts). */
  readonly secret?: boolean;
  readonly says?: string;
};

/** What a step does. `claude: …` is an agent step of the provider "claude". */
export type Work =
  | { readonly kind: "shell"; readonly command: string }
  | { readonly kind: "set"; readonly values: Readonly<Record<string, Json>> }
  | AgentWork;

export type AgentWork = {
  readonly kind: "agent";
  readonly provider: string;
  readonly prompt: string;
  /** The program of the provider "scripted", and its arguments. */
  readonly command?: readonly string[];
};

export type Retry = {
  /** How often it is tried in total. */
  readonly attempts: number;
  readonly backoff_ms: number;
  readonly max_backoff_ms: number;
  /** Only these are retried; absent: all except 0. A timeout and a signal are retried only without a list. */
  readonly exit_codes?: readonly number[];
};

export type OnUncertain = "rerun" | "ask" | "fail";

/** "stdout", "exit_code", "json", or a JSON path (`$.a[0]`) into the output. */
export type CaptureSource = string;

export type Step = {
  readonly id: string;
  readonly work: Work;
  readonly when?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeout_ms?: number;
  readonly retry?: Retry;
  /** These have no `on_failure` of their own. */
  readonly on_failure?: readonly Step[];
  readonly on_uncertain?: OnUncertain;
  readonly idempotent?: boolean;
  readonly capture?: Readonly<Record<string, CaptureSource>>;
  readonly continue_on_error?: boolean;
};

export type MapInput =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "glob"; readonly pattern: string };

export type Sort = { readonly by: string; readonly descending: boolean };

export type MaxFailures = { readonly items: number } | { readonly percent: number };

export type MapPhase = {
  readonly input: MapInput;
  readonly json_path?: string;
  readonly filter?: string;
  readonly sort?: Sort;
  readonly max_items?: number;
  readonly max_parallel: number;
  /** How many items may fail before the run fails: as a number, or as a share of all. Absent: all of them. */
  readonly max_failures?: MaxFailures;
  /** `continue`: a run with failed items is a success nevertheless. */
  readonly on_item_failure?: "fail" | "continue";
  readonly steps: readonly Step[];
};

export type Flow =
  | { readonly mode: "standard"; readonly steps: readonly Step[] }
  | {
      readonly mode: "iterative";
      readonly steps: readonly Step[];
      readonly max_iterations: number;
      readonly until?: string;
    }
  | {
      readonly mode: "mapreduce";
      readonly setup: readonly Step[];
      readonly map: MapPhase;
      readonly reduce: readonly Step[];
    };

export type Definition = {
  readonly name: string;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The program that gets a shell text as its last argument; absent: INTERPRETER. */
  readonly interpreter?: readonly string[];
  /** What happens to a run after the machine went down; absent: `auto`. */
  readonly resume?: ResumePolicy;
  readonly checkpoint?: CheckpointPolicy;
  /** How many runs of the file may be in progress at once; absent: any number. */
  readonly concurrency?: number;
  /** What becomes of a run that finds no place; absent: it is queued. */
  readonly when_busy?: "queue" | "refuse";
  readonly flow: Flow;
};

/**
 * `interval_ms`: how often its checkpoint is saved in long steps; absent: as the configuration says. `before_step`:
 * whether the file is durable before a step begins; otherwise only the log is.
 */
export type CheckpointPolicy = { readonly interval_ms?: number; readonly before_step?: boolean };

/**
 * `auto`: it continues automatically. `ask`: it is interrupted, and waits for `holdfast resume`. `never`: it is
 * cancelled.
 */
export type ResumePolicy = "auto" | "ask" | "never";

/** A script stops at its first failing line: a step whose first half failed must not count as done. */
export const INTERPRETER: readonly string[] = ["/bin/sh", "-e", "-c"];

/** The step that runs a map's input command. No id of a file has a dot. */
export const INPUT_STEP = "map.input";

const OF_RUN: Worktree = { repository: "${run.repository}", path: "${run.worktree}", branch: "${run.branch}" };

/** The step that creates a run's worktree. It can simply be run again. */
const MAKE_WORKTREE: Step = {
  id: WORKTREE_STEP,
  work: {
    kind: "agent",
    provider: "scripted",
    prompt: "",
    command: worktreeWords(OF_RUN, "${run.cwd}"),
  },
  cwd: "${run.repository}",
  idempotent: true,
};

/** `worktree`: before all others, in a run with its own worktree. */
export type Phase = "worktree" | "steps" | "setup" | "map" | "reduce";

/** The first phase of each kind of workflow. */
export function firstPhase({ flow }: Definition): Phase {
  return flow.mode === "mapreduce" ? "setup" : "steps";
}

/** The steps of a phase, in order. */
export function stepsOf({ flow }: Definition, phase: Phase): readonly Step[] {
  if (phase === "worktree") return [MAKE_WORKTREE];
  if (flow.mode !== "mapreduce") return phase === "steps" ? flow.steps : [];
  if (phase === "setup") return flow.setup;
  if (phase === "map") return flow.map.steps;
  return phase === "reduce" ? flow.reduce : [];
}

/** Whether an attempt that may or may not have done its work is simply made again. */
export function onUncertain({ idempotent, on_uncertain }: Step): OnUncertain {
  return on_uncertain ?? (idempotent === true ? "rerun" : "ask");
}

/** A map's input command as a step. Listing the items changes nothing, so it is simply run again. */
export function inputStep(map: MapPhase): Step | undefined {
  if (map.input.kind !== "command") return undefined;
  return { id: INPUT_STEP, work: { kind: "shell", command: map.input.command }, idempotent: true };
}

const byId = new WeakMap<Definition, ReadonlyMap<string, Step>>();

/** Finds a step of a definition by its id, including those of `on_failure`, and the one that creates a worktree. */
export function stepById(definition: Definition, id: string): Step | undefined {
  let steps = byId.get(definition);
  if (steps === undefined) {
    steps = new Map(allSteps(definition).map((step) => [step.id, step]));
    byId.set(definition, steps);
  }
  return id === WORKTREE_STEP ? MAKE_WORKTREE : steps.get(id);
}

export function allSteps(definition: Definition): Step[] {
  const phases: readonly Phase[] = ["steps", "setup", "map", "reduce"];
  const steps = phases.flatMap((phase) => stepsOf(definition, phase));
  const input = definition.flow.mode === "mapreduce" ? inputStep(definition.flow.map) : undefined;
  return [...(input === undefined ? [] : [input]), ...steps.flatMap((step) => [step, ...(step.on_failure ?? [])])];
}
