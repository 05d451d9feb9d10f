// What may stand in a workflow file: the one place that the checker, the JSON Schema and the reference are made from.
// S1. Keys are added, never given another meaning: a file that was right stays right.
// S2. A shape says what is taken (`expected` completes "it takes …"); what follows from several keys together is workflow-rules.ts.
import { MAX_ITEMS, MAX_ITERATIONS, MAX_PARALLEL } from "../../core/workflow/limits.ts";

export type Shape =
  /** How a text is read: as it is, with `${…}`, as an expression, or for a shell. */
  | {
      readonly kind: "text";
      readonly as: "plain" | "template" | "expression" | "shell";
      readonly pattern?: RegExp;
      readonly expected: string;
    }
  | { readonly kind: "whole"; readonly least: number; readonly most: number }
  | { readonly kind: "yesNo" }
  | { readonly kind: "duration" }
  | { readonly kind: "word"; readonly of: readonly string[] }
  | { readonly kind: "list"; readonly of: Shape; readonly least: number }
  | { readonly kind: "names"; readonly of: Shape; readonly pattern: RegExp; readonly expected: string }
  | { readonly kind: "object"; readonly name: string; readonly fields: Fields }
  /** Told apart by what stands there: a text, a list, a number, or names and values. */
  | { readonly kind: "either"; readonly of: readonly Shape[] }
  /** Any value; texts in it are templates. */
  | { readonly kind: "value"; readonly templates: boolean }
  /** A shape that contains itself. */
  | { readonly kind: "later"; readonly name: string; readonly shape: () => Shape };

export type Field = { readonly shape: Shape; readonly says: string; readonly required?: boolean };
export type Fields = Readonly<Record<string, Field>>;

const text: Shape = { kind: "text", as: "plain", expected: "a text" };
const template: Shape = { kind: "text", as: "template", expected: "a text" };
const expression: Shape = { kind: "text", as: "expression", expected: "an expression, such as count > 3" };
const shell: Shape = { kind: "text", as: "shell", expected: "a shell command" };
const yesNo: Shape = { kind: "yesNo" };
const duration: Shape = { kind: "duration" };
const whole = (least: number, most: number): Shape => ({ kind: "whole", least, most });
const list = (of: Shape, least = 0): Shape => ({ kind: "list", of, least });
const either = (...of: readonly Shape[]): Shape => ({ kind: "either", of });
const object = (name: string, fields: Fields): Shape => ({ kind: "object", name, fields });

export const ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
export const VARIABLE = /^[A-Za-z_]\w{0,63}$/;
const ENVIRONMENT = /^[A-Za-z_]\w*$/;

const id: Shape = {
  kind: "text",
  as: "plain",
  pattern: ID,
  expected: "a letter, then letters, digits, - and _, at most 64",
};
const variable: Shape = { kind: "text", as: "plain", pattern: VARIABLE, expected: "the name of a variable" };
const names = (of: Shape, pattern: RegExp, expected: string): Shape => ({ kind: "names", of, pattern, expected });
const environment = names(template, ENVIRONMENT, "names and texts ({ NAME: text })");
const source: Shape = {
  kind: "text",
  as: "plain",
  pattern: /^(?:stdout|json|exit_code|\$.*)$/,
  expected: "stdout, json, exit_code, or a JSON path ($.name[0])",
};

const RETRY: Fields = {
  attempts: { shape: whole(1, 100), says: "How often it is tried in all.", required: true },
  backoff: { shape: duration, says: "The wait before the second try; it doubles. Default 1s." },
  max_backoff: { shape: duration, says: "The longest wait. Default 60s." },
  exit_codes: { shape: list(whole(0, 255), 1), says: "Only these are tried again. Default: all but 0." },
};

const AGENT: Fields = {
  provider: {
    shape: text,
    says: "Which provider: a kind or a [provider.NAME] of the configuration; `scripted` runs a program on pipes.",
    required: true,
  },
  prompt: { shape: template, says: "What it is asked.", required: true },
  command: {
    shape: list(template, 1),
    says: "A program that gets the prompt as its input, in place of an agent; `scripted` needs one.",
  },
};

const later: Shape = { kind: "later", name: "step", shape: () => STEP };

export const STEP_FIELDS: Fields = {
  id: { shape: id, says: "Its name, unique in the file. Without one it is made from what the step does." },
  shell: { shape: shell, says: "A command for the shell. `${…}` is passed through the environment, never as code." },
  set: {
    shape: names({ kind: "value", templates: true }, VARIABLE, "names of variables and their values"),
    says: "Variables to set, in process.",
  },
  agent: { shape: object("agent", AGENT), says: "Work for an agent." },
  claude: { shape: template, says: "A prompt for Claude: short for `agent` with the provider `claude`." },
  when: { shape: either(expression, yesNo), says: "The step is skipped unless this holds." },
  cwd: { shape: template, says: "Where it runs, from the run's directory on." },
  env: { shape: environment, says: "More variables for its environment." },
  timeout: { shape: duration, says: "It is stopped after this long, and has failed." },
  retry: { shape: either(whole(1, 100), object("retry", RETRY)), says: "How often and how it is tried again." },
  on_failure: { shape: list(later), says: "Steps to run when it has failed for good. It stays failed." },
  on_uncertain: {
    shape: { kind: "word", of: ["rerun", "ask", "fail"] },
    says: "What happens when it was started and its end is not known. Default `ask`, or `rerun` where it is idempotent.",
  },
  idempotent: { shape: yesNo, says: "Whether doing it twice is the same as doing it once." },
  capture: {
    shape: either(variable, names(source, VARIABLE, "names of variables and where each comes from")),
    says: "Variables from its output: a name for all of stdout, or names with `stdout`, `json`, `$.path` or `exit_code`.",
  },
  continue_on_error: { shape: yesNo, says: "Whether the run goes on when it has failed." },
};

export const STEP: Shape = object("step", STEP_FIELDS);
const steps = list(later, 1);

const INPUT: Fields = {
  file: { shape: template, says: "A file: JSON, or one item a line." },
  command: { shape: shell, says: "A command whose stdout is JSON, or one item a line." },
  glob: { shape: template, says: "Files, by pattern; each path is an item." },
};

const SORT: Fields = {
  by: { shape: expression, says: "What to sort by, such as item.priority.", required: true },
  order: { shape: { kind: "word", of: ["ascending", "descending"] }, says: "Default `ascending`." },
};

export const MAP_FIELDS: Fields = {
  input: {
    shape: either(template, object("input", INPUT)),
    says: "Where the items come from; a text is a file.",
    required: true,
  },
  json_path: { shape: text, says: "Where in the JSON the list is, such as $.items[*]." },
  filter: { shape: expression, says: "Only items for which this holds." },
  sort: { shape: either(expression, object("sort", SORT)), says: "The order of the items." },
  max_items: { shape: whole(1, MAX_ITEMS), says: "Only the first so many." },
  max_parallel: { shape: whole(1, MAX_PARALLEL), says: "How many are worked on at once. Default 4." },
  steps: { shape: steps, says: "What is done for each item, in `${item}`." },
  agent_template: { shape: steps, says: "The same as `steps`." },
};

const PARAMETER: Fields = {
  type: { shape: { kind: "word", of: ["string", "number", "boolean", "list", "object"] }, says: "Default `string`." },
  default: { shape: { kind: "value", templates: false }, says: "What holds when it is not given." },
  required: { shape: yesNo, says: "Whether it must be given." },
  description: { shape: text, says: "For people." },
};

export const WORKFLOW_FIELDS: Fields = {
  name: { shape: id, says: "The workflow's name. Default: the file's." },
  description: { shape: text, says: "For people." },
  parameters: {
    shape: names(object("parameter", PARAMETER), VARIABLE, "names of parameters"),
    says: "What `--param` takes.",
  },
  env: { shape: environment, says: "Variables for every step's environment." },
  interpreter: { shape: list(text, 1), says: "What shell texts are given to. Default [/bin/sh, -e, -c]." },
  resume: {
    shape: { kind: "word", of: ["auto", "ask", "never"] },
    says: "After the machine went down: it goes on by itself (`auto`, the default), waits for `holdfast resume` (`ask`), or is cancelled (`never`).",
  },
  mode: { shape: { kind: "word", of: ["standard", "iterative", "mapreduce"] }, says: "Default `standard`." },
  steps: { shape: steps, says: "Standard and iterative: what is done, in this order." },
  max_iterations: { shape: whole(1, MAX_ITERATIONS), says: "Iterative: how often at the most." },
  until: { shape: expression, says: "Iterative: done when this holds after an iteration." },
  setup: { shape: list(later), says: "Map-reduce: steps before the map." },
  map: { shape: object("map", MAP_FIELDS), says: "Map-reduce: the items, and what is done for each." },
  reduce: {
    shape: list(later),
    says: "Map-reduce: steps after the map, with ${map.results}, ${map.successful} and ${map.failed}.",
  },
};

export const WORKFLOW: Shape = object("workflow", WORKFLOW_FIELDS);
