// What must hold between the parts of a workflow file, beyond the shape of each.
// R1. Every id is there once; every name that is looked up is set somewhere, or always there, where it is looked up.
// R2. A key that would quietly do nothing where it stands is a problem.
import { parsePath } from "../../base/json.ts";
import { isOfType } from "../../core/workflow/parameters.ts";
import { BUILT_IN } from "../../core/workflow/scope.ts";
import { nearest } from "./nearest.ts";
import { type Built, fieldOf, listOf, parametersOf } from "./workflow-build.ts";
import { type Checking, named, type Reference } from "./workflow-check.ts";
import { isYamlMap, type YamlNode } from "./yaml-node.ts";

const KINDS = ["shell", "set", "agent", "claude"];
/** What only a program has. */
const OF_PROGRAMS = ["cwd", "env", "timeout", "retry", "on_uncertain", "idempotent", "capture"];
const OF_MODES: Readonly<Record<string, readonly string[]>> = {
  standard: ["steps"],
  iterative: ["steps", "max_iterations", "until"],
  mapreduce: ["setup", "map", "reduce"],
};
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  standard: ["steps"],
  iterative: ["steps", "max_iterations"],
  mapreduce: ["map"],
};

/** Rules that must hold before a definition can be built. */
export function checkStructure(checking: Checking, root: YamlNode): void {
  checkMode(checking, root);
  for (const name of ["steps", "setup", "reduce"]) checkSteps(checking, fieldOf(root, name), [name]);
  const map = fieldOf(root, "map");
  if (map !== undefined) checkMap(checking, map);
  checkParameters(checking, fieldOf(root, "parameters"));
}

function checkMode(checking: Checking, root: YamlNode): void {
  const found = fieldOf(root, "mode")?.value;
  const mode = typeof found === "string" && Object.hasOwn(OF_MODES, found) ? found : "standard";
  const others = Object.values(OF_MODES).flat();
  const own = OF_MODES[mode] ?? [];
  if (!isYamlMap(root.value)) return;
  for (const [name, { key }] of root.value) {
    if (!others.includes(name) || own.includes(name)) continue;
    const right = Object.keys(OF_MODES).filter((other) => OF_MODES[other]?.includes(name));
    checking.problem(key, `${name} is not for mode ${mode}.`, `It is for: mode: ${right.join(" or ")}.`);
  }
  for (const name of NEEDED[mode] ?? [])
    if (!root.value.has(name)) checking.problem(root, `${name} is missing.`, `A workflow of mode ${mode} needs it.`);
}

function checkSteps(checking: Checking, node: YamlNode | undefined, path: readonly string[]): void {
  for (const [at, step] of listOf(node).entries()) checkStep(checking, step, [...path, String(at + 1)]);
}

function checkStep(checking: Checking, step: YamlNode, path: readonly string[]): void {
  const { value } = step;
  if (!isYamlMap(value)) return;
  const kinds = KINDS.filter((kind) => value.has(kind));
  if (kinds.length !== 1) {
    const what = kinds.length === 0 ? "does nothing" : `has ${kinds.join(" and ")}`;
    checking.problem(step, `${named(path)} ${what}.`, `Give it one of ${KINDS.join(", ")}.`);
  }
  if (kinds[0] === "set") notFor(checking, step, OF_PROGRAMS, "a set step, which runs in process");
  if (path.includes("on_failure")) notFor(checking, step, ["on_failure"], "a step of on_failure");
  checkNames(checking, fieldOf(step, "set"));
  checkCapture(checking, fieldOf(step, "capture"));
  checkAgent(checking, fieldOf(step, "agent"));
  checkSteps(checking, fieldOf(step, "on_failure"), [...path, "on_failure"]);
}

/** R2. */
function notFor(checking: Checking, { value }: YamlNode, names: readonly string[], what: string): void {
  if (!isYamlMap(value)) return;
  for (const name of names) {
    const found = value.get(name);
    if (found !== undefined) checking.problem(found.key, `${name} does nothing in ${what}.`, "Leave it out.");
  }
}

function checkNames(checking: Checking, node: YamlNode | undefined): void {
  if (node === undefined || !isYamlMap(node.value)) return;
  for (const [name, { key }] of node.value)
    if (BUILT_IN.includes(name))
      checking.problem(key, `${name} always means the same and cannot be set.`, "Take another name.");
}

function checkCapture(checking: Checking, node: YamlNode | undefined): void {
  checkNames(checking, node);
  if (typeof node?.value === "string" && BUILT_IN.includes(node.value))
    checking.problem(node, `${node.value} always means the same and cannot be set.`, "Take another name.");
  if (node === undefined || !isYamlMap(node.value)) return;
  for (const { node: source } of node.value.values()) checkPath(checking, source);
}

function checkPath(checking: Checking, node: YamlNode | undefined): void {
  if (typeof node?.value !== "string" || !node.value.startsWith("$")) return;
  const path = parsePath(node.value);
  if (!path.ok) checking.problem(node, path.error.message, path.error.hint);
}

function checkAgent(checking: Checking, node: YamlNode | undefined): void {
  if (fieldOf(node, "provider")?.value !== "scripted" || node === undefined || fieldOf(node, "command") !== undefined)
    return;
  checking.problem(
    node,
    "A scripted agent needs a command.",
    "Give the program and its words: command: [./agent, --once].",
  );
}

function checkMap(checking: Checking, map: YamlNode): void {
  const [steps, template] = [fieldOf(map, "steps"), fieldOf(map, "agent_template")];
  if ((steps === undefined) === (template === undefined))
    checking.problem(
      map,
      "map has either steps or agent_template.",
      "Give it one of them: what is done for each item.",
    );
  checkSteps(checking, steps ?? template, ["map", "steps"]);
  const path = fieldOf(map, "json_path");
  if (typeof path?.value === "string" && !path.value.startsWith("$"))
    checking.problem(path, `${JSON.stringify(path.value)} is no JSON path.`, "It begins with $.");
  checkPath(checking, path);
  const input = fieldOf(map, "input");
  if (input !== undefined && isYamlMap(input.value) && input.value.size !== 1)
    checking.problem(input, "input has one source.", "Give it one of file, command, glob.");
}

function checkParameters(checking: Checking, node: YamlNode | undefined): void {
  checkNames(checking, node);
  for (const [name, { type, default: fallback, required }] of Object.entries(parametersOf(node) ?? {})) {
    const place = fieldOf(fieldOf(node, name), "default") ?? fieldOf(node, name) ?? node;
    if (place === undefined || fallback === undefined) continue;
    if (!isOfType(fallback, type))
      checking.problem(place, `The default of ${name} is no ${type}.`, "Give one that is, or change the type.");
    if (required === true)
      checking.problem(place, `${name} is required and has a default.`, "Leave out one of the two.");
  }
}

/** R1, once the definition is built. */
export function checkIds(checking: Checking, { places }: Built): void {
  const first = new Map<string, number>();
  for (const { id, place } of places) {
    const line = first.get(id);
    if (line === undefined) first.set(id, place.line);
    else checking.problem(place, `There is a step ${id} already, on line ${line}.`, "Give each step an id of its own.");
  }
}

/** R1. `known` are the variables that some step sets or some parameter is. */
export function checkReferences(checking: Checking, known: ReadonlySet<string>): void {
  for (const reference of checking.references) {
    const { name, place } = reference;
    const wrong = BUILT_IN.includes(name) ? misplaced(reference) : undefined;
    if (wrong !== undefined)
      checking.problem(place, `\${${name}} is only there ${wrong}.`, "Use it there, or set a variable.");
    if (BUILT_IN.includes(name) || known.has(name)) continue;
    const near = nearest(name, [...known, ...BUILT_IN]);
    const meant = near === undefined ? "Set it in a step before, or make it a parameter." : `Did you mean ${near}?`;
    checking.problem(
      place,
      `Nothing sets the variable ${name}.`,
      `${meant} For a shell's own variable, write $${name} or $$\{${name}}.`,
    );
  }
}

/** Where a name that is always there is there after all; undefined where it stands right. */
function misplaced({ name, path }: Reference): string | undefined {
  const [part, key] = path;
  if (name === "error") return path.includes("on_failure") ? undefined : "in on_failure";
  if (name === "map") return part === "reduce" ? undefined : "in reduce";
  if (name !== "item" && name !== "item_index") return undefined;
  const inItems = part === "map" && key !== "input";
  return inItems ? undefined : "in map, for each item";
}
