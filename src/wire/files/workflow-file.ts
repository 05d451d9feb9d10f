// A workflow file: YAML text → definition, or everything that is wrong with it.
// W1. A wrong file is never half used: all its problems, or the whole definition.
// W2. Each problem has a line, a column, what is wrong and what to do.
import { ok, type Refusal, type Result } from "../../base/result.ts";
import type { Definition, Flow, Step } from "../../core/workflow/definition.ts";
import { secretNames } from "../../core/workflow/parameters.ts";
import { byPosition, type FileProblem, fileProblemText, textIn, unreadable } from "./source.ts";
import { buildFlow, checkpointOf, parametersOf } from "./workflow-build.ts";
import { Checking } from "./workflow-check.ts";
import { checkIds, checkReferences, checkSecrets, checkStructure } from "./workflow-rules.ts";
import type { WorkflowFile } from "./workflow-shapes.ts";
import { readYaml } from "./yaml-node.ts";

/** A file of ten thousand steps has a megabyte; what a run may have is decided by MAX_DEFINITION. */
const MAX_BYTES = 4 << 20;

/** The name of a workflow whose file does not give one. */
export function workflowNameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.ya?ml$/, "");
}

/** `name` is the workflow's if the file does not give one. */
export function readWorkflow(bytes: Uint8Array, name: string): Result<Definition, FileProblem[]> {
  const text = textIn(bytes, MAX_BYTES);
  if (!text.ok) return { ok: false, error: [text.error] };
  if (text.value.trim() === "") return { ok: false, error: [EMPTY.error] };
  const yaml = readYaml(text.value);
  if (!yaml.ok) return yaml;
  const checking = new Checking(yaml.value);
  const definition = definitionIn(checking, name);
  if (definition !== undefined && checking.problems.length === 0) return ok(definition);
  return { ok: false, error: checking.problems.sort(byPosition) };
}

const EMPTY = unreadable("The file is empty.", "Begin with `steps:`; docs/WORKFLOWS.md has examples.");

/** Each kind of problem is looked for once there is none of the kind before. */
function definitionIn(checking: Checking, name: string): Definition | undefined {
  const file = checking.file();
  if (file !== undefined) checkStructure(checking, file);
  if (file === undefined || checking.problems.length > 0) return undefined;
  const built = buildFlow(file);
  checkIds(checking, built);
  const definition = definitionOf(file, built.flow, name);
  checkReferences(checking, namesSet(definition));
  checkSecrets(checking, file, secretNames(definition));
  return definition;
}

function definitionOf(file: WorkflowFile, flow: Flow, fallback: string): Definition {
  const { name = fallback, parameters, env, interpreter, resume, checkpoint, concurrency, when_busy } = file;
  return {
    name,
    ...(parameters && { parameters: parametersOf(parameters) }),
    ...(env && { env }),
    ...(interpreter && { interpreter }),
    ...(resume && { resume }),
    ...(checkpoint && { checkpoint: checkpointOf(checkpoint) }),
    ...(concurrency !== undefined && { concurrency }),
    ...(when_busy && { when_busy }),
    flow,
  };
}

/** Every variable that some step may set. Whether it is set in time shows when it runs. */
function namesSet({ flow, parameters = {} }: Definition): ReadonlySet<string> {
  const steps = flow.mode === "mapreduce" ? [...flow.setup, ...flow.map.steps, ...flow.reduce] : flow.steps;
  const of = ({ work, capture = {}, on_failure = [] }: Step): string[] => [
    ...(work.kind === "set" ? Object.keys(work.values) : []),
    ...Object.keys(capture),
    ...on_failure.flatMap(of),
  ];
  return new Set([...Object.keys(parameters), ...steps.flatMap(of)]);
}

export function workflowRefusal(path: string, problems: readonly FileProblem[]): Refusal {
  const message = [`${path} has errors:`, ...problems.map((one) => fileProblemText(path, one))].join("\n");
  return { code: "bad-workflow", message, hint: `Correct ${path}, then try again. holdfast run --check ${path}` };
}
