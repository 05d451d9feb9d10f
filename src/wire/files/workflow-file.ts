// A workflow file: YAML text → definition, or everything that is wrong with it.
// W1. A wrong file is never half used: all its problems, or the whole definition.
// W2. Each problem has a line, a column, what is wrong and what to do.
import { ok, type Refusal, type Result } from "../../base/result.ts";
import type { Definition, Flow, Step } from "../../core/workflow/definition.ts";
import { buildFlow, fieldOf, parametersOf } from "./workflow-build.ts";
import { Checking } from "./workflow-check.ts";
import { checkIds, checkReferences, checkStructure } from "./workflow-rules.ts";
import { WORKFLOW } from "./workflow-shapes.ts";
import { plain, readYaml, type SourcePosition, type YamlNode, type YamlProblem } from "./yaml-node.ts";

/** A file of ten thousand steps has a megabyte; what a run may have is decided by MAX_DEFINITION. */
const MAX_BYTES = 4 << 20;

/** What a workflow is called whose file does not say it. */
export function workflowNameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.ya?ml$/, "");
}

/** `name` is what the workflow is called where the file does not say it. */
export function readWorkflow(bytes: Uint8Array, name: string): Result<Definition, YamlProblem[]> {
  const text = decoded(bytes);
  if (!text.ok) return text;
  const yaml = readYaml(text.value);
  if (!yaml.ok) return yaml;
  const { root, placeAt } = yaml.value;
  const checking = new Checking(placeAt);
  checking.check(WORKFLOW, root, []);
  if (checking.problems.length === 0) checkStructure(checking, root);
  if (checking.problems.length > 0) return inOrder(checking.problems);
  const built = buildFlow(root);
  checkIds(checking, built);
  const definition = definitionOf(root, built.flow, name);
  checkReferences(checking, namesSet(definition));
  return checking.problems.length > 0 ? inOrder(checking.problems) : ok(definition);
}

function decoded(bytes: Uint8Array): Result<string, YamlProblem[]> {
  if (bytes.length > MAX_BYTES) return wrong(`The file has ${bytes.length} bytes.`, `At most ${MAX_BYTES} are read.`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.trim() === ""
      ? wrong("The file is empty.", "Begin with `steps:`; docs/WORKFLOWS.md has examples.")
      : ok(text);
  } catch (error) {
    if (error instanceof TypeError) return wrong("The file is not in UTF-8.", "Save it as UTF-8 text.");
    throw error;
  }
}

function wrong(message: string, hint: string): Result<never, YamlProblem[]> {
  return { ok: false, error: [{ line: 1, column: 1, message, hint }] };
}

function inOrder(problems: readonly YamlProblem[]): Result<never, YamlProblem[]> {
  return { ok: false, error: [...problems].sort(byPlace) };
}

function byPlace(a: SourcePosition, b: SourcePosition): number {
  return a.line - b.line || a.column - b.column;
}

function definitionOf(root: YamlNode, flow: Flow, fallback: string): Definition {
  const { name, env, interpreter, resume } = plain(root) as Partial<Definition>;
  const parameters = parametersOf(fieldOf(root, "parameters"));
  return {
    name: name ?? fallback,
    ...(parameters === undefined ? {} : { parameters }),
    ...(env === undefined ? {} : { env }),
    ...(interpreter === undefined ? {} : { interpreter }),
    ...(resume === undefined ? {} : { resume }),
    flow,
  };
}

/** Every variable that some step may set. Whether it is set in time is seen when it runs. */
function namesSet({ flow, parameters = {} }: Definition): ReadonlySet<string> {
  const steps = flow.mode === "mapreduce" ? [...flow.setup, ...flow.map.steps, ...flow.reduce] : flow.steps;
  const of = ({ work, capture = {}, on_failure = [] }: Step): string[] => [
    ...(work.kind === "set" ? Object.keys(work.values) : []),
    ...Object.keys(capture),
    ...on_failure.flatMap(of),
  ];
  return new Set([...Object.keys(parameters), ...steps.flatMap(of)]);
}

/** `flow.yml:3:1: There is no key "stpes" in the workflow. Did you mean steps?`, as editors and people follow it. */
export function workflowProblemText(path: string, { line, column, message, hint }: YamlProblem): string {
  return `${path}:${line}:${column}: ${message} ${hint}`;
}

export function workflowRefusal(path: string, problems: readonly YamlProblem[]): Refusal {
  const message = ["The workflow file is wrong.", ...problems.map((one) => workflowProblemText(path, one))].join("\n");
  return { code: "bad-workflow", message, hint: `Correct ${path}, then try again. holdfast run --check ${path}` };
}
