// What must hold between the parts of a workflow file, beyond the shape of each.
// R1. Every id is there once; every name that is looked up is set somewhere, or always there, where it is looked up.
// R2. A key that would silently have no effect where it is, is a problem.
// R3. No value becomes part of a script (shell texts are read by workflow-check.ts).
import { parsePath } from "../../base/json.ts";
import { nearest } from "../../base/nearest.ts";
import { isOfType } from "../../core/workflow/parameters.ts";
import { BUILT_IN } from "../../core/workflow/scope.ts";
import { isScript } from "../../core/workflow/shell-command.ts";
import { parseTemplate } from "../../core/workflow/template.ts";
import type { Path } from "../check.ts";
import type { Built } from "./workflow-build.ts";
import { type Checking, named, type Reference } from "./workflow-check.ts";
import type { MapFile, StepFile, WorkflowFile } from "./workflow-shapes.ts";

const KINDS = ["shell", "set", "agent", "claude"] as const;
/** What only a program has. */
const OF_PROGRAMS = ["cwd", "env", "timeout", "retry", "on_uncertain", "idempotent", "capture"];
const OF_MODES: Readonly<Record<Mode, readonly string[]>> = {
  standard: ["steps"],
  iterative: ["steps", "max_iterations", "until"],
  mapreduce: ["setup", "map", "reduce"],
};
const NEEDED: Readonly<Record<Mode, readonly string[]>> = {
  standard: ["steps"],
  iterative: ["steps", "max_iterations"],
  mapreduce: ["map"],
};

type Mode = NonNullable<WorkflowFile["mode"]>;

/** Rules that must hold before a definition can be built. */
export function checkStructure(checking: Checking, file: WorkflowFile): void {
  checkMode(checking, file);
  for (const name of ["steps", "setup", "reduce"] as const) checkSteps(checking, file[name], [name]);
  if (file.map !== undefined) checkMap(checking, file.map);
  checkParameters(checking, file.parameters);
}

function checkMode(checking: Checking, file: WorkflowFile): void {
  const { mode = "standard" } = file;
  const others = Object.values(OF_MODES).flat();
  for (const name of Object.keys(file)) {
    if (!others.includes(name) || OF_MODES[mode].includes(name)) continue;
    const right = Object.entries(OF_MODES).filter(([, keys]) => keys.includes(name));
    const hint = `It is for: mode: ${right.map(([other]) => other).join(" or ")}.`;
    checking.problemOfKey([name], `${name} is not for mode ${mode}.`, hint);
  }
  for (const name of NEEDED[mode])
    if (!Object.hasOwn(file, name)) checking.problem([], `${name} is missing.`, `A workflow of mode ${mode} needs it.`);
}

function checkSteps(checking: Checking, steps: readonly StepFile[] | undefined, path: Path): void {
  for (const [at, step] of (steps ?? []).entries()) checkStep(checking, step, [...path, at]);
}

function checkStep(checking: Checking, step: StepFile, path: Path): void {
  const kinds = KINDS.filter((kind) => step[kind] !== undefined);
  if (kinds.length !== 1) {
    const what = kinds.length === 0 ? "does nothing" : `has ${kinds.join(" and ")}`;
    checking.problem(path, `${named(path)} ${what}.`, `Give it one of ${KINDS.join(", ")}.`);
  }
  const notFor = (names: readonly string[], what: string) => {
    for (const name of names)
      if (Object.hasOwn(step, name))
        checking.problemOfKey([...path, name], `${name} does nothing in ${what}.`, "Leave it out."); // R2
  };
  if (kinds[0] === "set") notFor(OF_PROGRAMS, "a set step, which runs in process");
  if (path.includes("on_failure")) notFor(["on_failure"], "a step of on_failure");
  checkNames(checking, step.set, [...path, "set"]);
  checkCapture(checking, step.capture, [...path, "capture"]);
  if (step.agent?.provider === "scripted" && step.agent.command === undefined)
    checking.problem([...path, "agent"], "A scripted agent needs a command.", SCRIPTED);
  checkScript(checking, step.agent?.command ?? [], [...path, "agent", "command"]);
  checkSteps(checking, step.on_failure, [...path, "on_failure"]);
}

/** R3. A value in the words of a program stays a value, unless the program is a shell and the word its script. */
function checkScript(checking: Checking, command: readonly string[], path: Path): void {
  for (const [at, word] of command.entries()) {
    const parts = parseTemplate(word);
    const hasValue = parts.ok && parts.value.some(({ kind }) => kind === "value");
    const prefix = word.slice(0, Math.max(0, word.indexOf("${")));
    if (!hasValue || !isScript(command.slice(0, at), prefix)) continue;
    const hint = "Give it to the script as an argument: [sh, -c, 'echo \"$1\"', sh, '${x}'].";
    checking.problem([...path, at], "A value cannot stand in the script of a shell, which would execute it.", hint);
  }
}

const SCRIPTED = "Give the program and its arguments: command: [./agent, --once].";

function checkNames(checking: Checking, names: object | undefined, path: Path): void {
  for (const name of Object.keys(names ?? {}))
    if (BUILT_IN.includes(name)) checking.problemOfKey([...path, name], fixed(name), OTHER_NAME);
}

function fixed(name: string): string {
  return `${name} always means the same and cannot be set.`;
}

const OTHER_NAME = "Take another name.";

function checkCapture(checking: Checking, capture: StepFile["capture"], path: Path): void {
  if (typeof capture !== "string") {
    checkNames(checking, capture, path);
    for (const [name, source] of Object.entries(capture ?? {})) checkPath(checking, source, [...path, name]);
  } else if (BUILT_IN.includes(capture)) checking.problem(path, fixed(capture), OTHER_NAME);
}

function checkPath(checking: Checking, text: string, path: Path): void {
  const parsed = text.startsWith("$") ? parsePath(text) : undefined;
  if (parsed?.ok === false) checking.problem(path, parsed.error.message, parsed.error.hint);
}

function checkMap(checking: Checking, map: MapFile): void {
  if ((map.steps === undefined) === (map.agent_template === undefined))
    checking.problem(
      ["map"],
      "map has either steps or agent_template.",
      "Give it one of them: what is done for each item.",
    );
  checkSteps(checking, map.steps ?? map.agent_template, ["map", map.steps === undefined ? "agent_template" : "steps"]);
  const { json_path = "$", input } = map;
  if (!json_path.startsWith("$"))
    checking.problem(["map", "json_path"], `${JSON.stringify(json_path)} is not a JSON path.`, "It begins with $.");
  checkPath(checking, json_path, ["map", "json_path"]);
  if (typeof input !== "string" && Object.keys(input).length !== 1)
    checking.problem(["map", "input"], "input has one source.", "Give it one of file, command, glob.");
}

function checkParameters(checking: Checking, parameters: WorkflowFile["parameters"] = {}): void {
  checkNames(checking, parameters, ["parameters"]);
  for (const [name, parameter] of Object.entries(parameters)) {
    const { type = "string", default: fallback, required } = parameter;
    const path = ["parameters", name, "default"];
    if (parameter.secret === true) checkSecret(checking, name, parameter);
    if (fallback === undefined) continue;
    if (!isOfType(fallback, type))
      checking.problem(path, `The default of ${name} is not of type ${type}.`, "Give one that is, or change the type.");
    if (required === true)
      checking.problem(path, `${name} is required and has a default.`, "Leave out one of the two.");
  }
}

type ParameterFile = NonNullable<WorkflowFile["parameters"]>[string];

/** PA1 of core/workflow/parameters.ts */
function checkSecret(checking: Checking, name: string, parameter: ParameterFile): void {
  const { type = "string", default: fallback, required = true } = parameter;
  const wrong = (key: string, what: string, hint: string) =>
    checking.problem(["parameters", name, key], `The secret ${name} ${what}.`, hint);
  if (type !== "string") wrong("type", "is not a text", "Leave its type out.");
  if (!required) wrong("required", "is always required", "Leave it out.");
  if (fallback !== undefined) wrong("default", "has a default", "Leave it out: whoever starts a run gives it.");
}

/** R1, once the definition is built. */
export function checkIds(checking: Checking, { steps }: Built): void {
  const first = new Map<string, number>();
  for (const { id, path } of steps) {
    const line = first.get(id);
    if (line === undefined) first.set(id, checking.positionOf(path).line);
    else checking.problem(path, `There is a step ${id} already, on line ${line}.`, "Give each step an id of its own.");
  }
}

/** R1. `known` are the variables that some step sets or some parameter is. */
export function checkReferences(checking: Checking, known: ReadonlySet<string>): void {
  for (const reference of checking.references) {
    const { name } = reference;
    const wrong = BUILT_IN.includes(name) ? misplaced(reference) : undefined;
    if (wrong !== undefined)
      checking.report(reference.position(), `\${${name}} is only there ${wrong}.`, "Use it there, or set a variable.");
    if (BUILT_IN.includes(name) || known.has(name)) continue;
    const near = nearest(name, [...known, ...BUILT_IN]);
    const meant = near === undefined ? "Set it in a step before, or make it a parameter." : `Did you mean ${near}?`;
    const hint = `${meant} For a shell's own variable, write $${name} or $$\{${name}}.`;
    checking.report(reference.position(), `Nothing sets the variable ${name}.`, hint);
  }
}

/** R1. A secret parameter has no value in the run, only in the environment of programs (PA1 of parameters.ts). */
export function checkSecrets(checking: Checking, file: WorkflowFile, secret: readonly string[]): void {
  for (const { name, path, alone, position } of checking.references) {
    if (!secret.includes(name)) continue;
    const isShell = path.at(-1) === "shell" || path.join(".") === "map.input.command";
    const isVariable = path.at(-2) === "env" && hasShell(file, path.slice(0, -2));
    if ((isShell && alone !== "no") || (isVariable && alone === "in its text")) continue;
    const hint = `Write \${${name}} in a shell text, or NAME: \${${name}} in the env of a shell step.`;
    checking.report(position(), `The secret ${name} cannot be used here: what is computed is stored.`, hint);
  }
}

function hasShell(file: WorkflowFile, path: Path): boolean {
  const step = path.reduce<unknown>((node, key) => (Object(node) as Record<string | number, unknown>)[key], file);
  return path.length > 0 && Object.hasOwn(Object(step), "shell");
}

/** Where a name that is always there can be used; undefined if it is used there. */
function misplaced({ name, path }: Reference): string | undefined {
  const [part, key] = path;
  if (name === "error") return path.includes("on_failure") ? undefined : "in on_failure";
  if (name === "map") return part === "reduce" ? undefined : "in reduce";
  if (name !== "item" && name !== "item_index") return undefined;
  const inItems = part === "map" && key !== "input";
  return inItems ? undefined : "in map, for each item";
}
