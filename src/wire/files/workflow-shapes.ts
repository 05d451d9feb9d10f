// What may stand in a workflow file: the one table that the checker, the JSON Schema and the reference are made from.
// S1. Keys are added, never given another meaning: a file that was right stays right.
// S2. A shape describes one value; what must hold between several keys is in workflow-rules.ts.
// S3. `as` says how a text is read: as a `template` with `${…}`, as an `expression`, or for a `shell`. In `templates`,
//     all texts of a value are read as templates.
import { MAX_ITEMS, MAX_ITERATIONS, MAX_PARALLEL } from "../../core/workflow/limits.ts";
import {
  closed,
  either,
  flag,
  type Infer,
  type InferFields,
  json,
  list as listOf,
  literal,
  type Optional,
  type Shape,
  table,
  textOf,
  whole,
} from "../shape.ts";
import { durationMs } from "./duration.ts";

const TEXT = { least: 1, is: (text: string) => !text.includes("\0"), expected: "a text" };
const text = textOf(TEXT);
const template = textOf({ ...TEXT, as: "template" });
const expression = textOf({ ...TEXT, as: "expression", expected: "an expression, such as count > 3" });
const shell = textOf({ ...TEXT, as: "shell", expected: "a shell command" });
const isDuration = (value: string | number): boolean => durationMs(value) !== undefined;
const duration: Shape<string | number> = {
  ...either(textOf({ pattern: /^\d+(\.\d+)?(ms|s|m|h|d)$/, is: isDuration }), {
    kind: "number",
    above: 0,
    is: isDuration,
  }),
  expected: "a time, such as 500ms, 30s, 5m or 2h",
};
const templates: typeof json = { ...json, as: "templates" };

function list<T>(of: Shape<T>, least = 0): Shape<readonly T[]> {
  return { ...listOf(of, least), expected: least > 0 ? "a list (- …) that is not empty" : "a list (- …)" };
}

/** A field that must be there. */
function must<T>(shape: Shape<T>, says: string): Shape<T> {
  return { ...shape, says };
}

/** A field that may be left out. */
function may<T>(shape: Shape<T>, says: string): Optional<T> {
  return { ...shape, says, optional: true };
}

const ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const VARIABLE = /^[A-Za-z_]\w{0,63}$/;
const ENVIRONMENT = /^[A-Za-z_]\w*$/;

const id = textOf({ ...TEXT, pattern: ID, expected: "a letter, then letters, digits, - and _, at most 64" });
const variable = textOf({ ...TEXT, pattern: VARIABLE, expected: "the name of a variable" });
const environment = { ...table(template, ENVIRONMENT), expected: "names and texts ({ NAME: text })" };
const variables = <T>(of: Shape<T>, expected: string) => ({ ...table(of, VARIABLE), expected });
const source = textOf({
  ...TEXT,
  pattern: /^(?:stdout|json|exit_code|\$.*)$/,
  expected: "stdout, json, exit_code, or a JSON path ($.name[0])",
});

const RETRY = closed({
  attempts: must(whole(1, 100), "How many attempts in all."),
  backoff: may(duration, "The wait before the second attempt; it doubles. Default 1s."),
  max_backoff: may(duration, "The longest wait. Default 60s."),
  exit_codes: may(list(whole(0, 255), 1), "Only these are retried. Default: all but 0."),
});

const AGENT = closed({
  provider: must(
    text,
    "Which provider: a kind or a [provider.NAME] of the configuration; `scripted` runs a program on pipes.",
  ),
  prompt: must(template, "What it is asked."),
  command: may(
    list(template, 1),
    "A program that gets the prompt as its input, in place of an agent; `scripted` needs one.",
  ),
});

const BEFORE_ON_FAILURE = {
  id: may(id, "Its name, unique in the file. Without it, one is made from what the step does."),
  shell: may(shell, "A command for the shell. `${…}` is passed through the environment, never as code."),
  set: may(variables(templates, "names of variables and their values"), "Variables to set, in process."),
  agent: may(AGENT, "Work for an agent."),
  claude: may(template, "A prompt for Claude: short for `agent` with the provider `claude`."),
  when: may(either(expression, flag), "The step is skipped unless this holds."),
  cwd: may(template, "Where it runs, relative to the run's directory."),
  env: may(environment, "More variables for its environment."),
  timeout: may(duration, "It is stopped after this long, and fails."),
  retry: may(either(whole(1, 100), RETRY), "How often and how it is retried."),
};

const AFTER_ON_FAILURE = {
  on_uncertain: may(
    literal("rerun", "ask", "fail"),
    "What happens if it was started and its end is not known. Default `ask`, or `rerun` if it is idempotent.",
  ),
  idempotent: may(flag, "Whether doing it twice is the same as doing it once."),
  capture: may(
    either(variable, variables(source, "names of variables and where each comes from")),
    "Variables from its output: a name for all of stdout, or names with `stdout`, `json`, `$.path` or `exit_code`.",
  ),
  continue_on_error: may(flag, "Whether the run continues if it fails."),
};

/** A step as the file has it. */
export type StepFile = InferFields<typeof BEFORE_ON_FAILURE> &
  InferFields<typeof AFTER_ON_FAILURE> & { readonly on_failure?: readonly StepFile[] };

const step: Shape<StepFile> = { kind: "later", name: "step", shape: () => STEP };

export const STEP = closed({
  ...BEFORE_ON_FAILURE,
  on_failure: may(list(step), "Steps to run when it has failed for good. It stays failed."),
  ...AFTER_ON_FAILURE,
});

const steps = list(step, 1);

const INPUT = closed({
  file: may(template, "A file: JSON, or one item a line."),
  command: may(shell, "A command whose stdout is JSON, or one item a line."),
  glob: may(template, "Files, by pattern; each path is an item."),
});

const SORT = closed({
  by: must(expression, "What to sort by, such as item.priority."),
  order: may(literal("ascending", "descending"), "Default `ascending`."),
});

const maxFailures: Shape<string | number> = {
  ...either(textOf({ pattern: /^(?:100|\d{1,2}(?:\.\d+)?)%$/ }), whole(0, MAX_ITEMS)),
  expected: "a number of items, such as 5, or a share of them, such as 10%",
};

export const MAP = closed({
  input: must(either(template, INPUT), "Where the items come from; a text is a file."),
  json_path: may(text, "Where in the JSON the list is, such as $.items[*]."),
  filter: may(expression, "Only items for which this holds."),
  sort: may(either(expression, SORT), "The order of the items."),
  max_items: may(whole(1, MAX_ITEMS), "How many items at most."),
  max_parallel: may(whole(1, MAX_PARALLEL), "How many are worked on at once. Default 4."),
  max_failures: may(
    maxFailures,
    "How many items may fail, as a number or as a share (10%); with one more no other item is started, and the run " +
      "fails. Default: all of them.",
  ),
  on_item_failure: may(
    literal("fail", "continue"),
    "Whether a run with failed items counts as a failure: its exit code is 1 (`fail`, the default) or 0 (`continue`).",
  ),
  steps: may(steps, "What is done for each item, in `${item}`."),
  agent_template: may(steps, "The same as `steps`."),
});
export type MapFile = Infer<typeof MAP>;

const CHECKPOINT = closed({
  interval: may(
    duration,
    "How often it is saved in long steps. Default: `[workflows] checkpoint_s` of the configuration.",
  ),
  before_step: may(flag, "Whether the file is on disk before a step begins. Default: no, since the log is."),
});

const PARAMETER = closed({
  type: may(literal("string", "number", "boolean", "list", "object"), "Default `string`."),
  default: may(json, "The value if it is not given."),
  required: may(flag, "Whether it must be given."),
  secret: may(
    flag,
    "Whether it is a secret: never stored and never shown. It is a text, for `shell` and the `env` of a shell step.",
  ),
  description: may(text, "For people."),
});

export const WORKFLOW = closed({
  name: may(id, "The workflow's name. Default: the file's."),
  description: may(text, "For people."),
  parameters: may(variables(PARAMETER, "names of parameters"), "What `--param` takes."),
  env: may(environment, "Variables for every step's environment."),
  interpreter: may(list(text, 1), "What shell texts are run with. Default [/bin/sh, -e, -c]."),
  resume: may(
    literal("auto", "ask", "never"),
    "After a machine crash it resumes by itself (`auto`, the default), waits for `holdfast resume` (`ask`), or is " +
      "cancelled (`never`).",
  ),
  checkpoint: may(CHECKPOINT, "When `checkpoint.json` is saved."),
  concurrency: may(
    whole(1, MAX_PARALLEL),
    "How many runs of this file may be in progress at once, including those that wait for a person. Default: any number.",
  ),
  when_busy: may(
    literal("queue", "refuse"),
    "What becomes of a run for which there is no place: it is queued (`queue`, the default), or refused (`refuse`).",
  ),
  mode: may(literal("standard", "iterative", "mapreduce"), "Default `standard`."),
  steps: may(steps, "Standard and iterative: what is done, in this order."),
  max_iterations: may(whole(1, MAX_ITERATIONS), "Iterative: how often at most."),
  until: may(expression, "Iterative: done if this holds after an iteration."),
  setup: may(list(step), "Map-reduce: steps before the map."),
  map: may(MAP, "Map-reduce: the items, and what is done for each."),
  reduce: may(list(step), "Map-reduce: steps after the map, with ${map.results}, ${map.successful} and ${map.failed}."),
});
/** A workflow as the file has it. */
export type WorkflowFile = Infer<typeof WORKFLOW>;
