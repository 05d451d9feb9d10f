// The file of a workflow whose definition is given: JSON is YAML.
import type { Definition, Flow, MapInput, Step, Work } from "../../src/core/workflow/definition.ts";

export function fileOf({ flow, ...rest }: Definition): string {
  return JSON.stringify({ ...rest, ...flowFile(flow) });
}

function flowFile(flow: Flow): object {
  if (flow.mode !== "mapreduce") return { ...flow, steps: flow.steps.map(stepFile) };
  const { input, steps, ...map } = flow.map;
  return {
    mode: flow.mode,
    setup: flow.setup.map(stepFile),
    map: { ...map, input: inputFile(input), steps: steps.map(stepFile) },
    reduce: flow.reduce.map(stepFile),
  };
}

function stepFile({ work, timeout_ms, retry, on_failure, ...step }: Step): object {
  return {
    ...step,
    ...workFile(work),
    ...(timeout_ms !== undefined && { timeout: `${timeout_ms}ms` }),
    ...(retry && {
      retry: { attempts: retry.attempts, backoff: `${retry.backoff_ms}ms`, max_backoff: `${retry.max_backoff_ms}ms` },
    }),
    ...(on_failure && { on_failure: on_failure.map(stepFile) }),
  };
}

function workFile(work: Work): object {
  if (work.kind === "shell") return { shell: work.command };
  if (work.kind === "set") return { set: work.values };
  const { kind: _, ...agent } = work;
  return { agent };
}

function inputFile(input: MapInput): object {
  if (input.kind === "file") return { file: input.path };
  return input.kind === "command" ? { command: input.command } : { glob: input.pattern };
}
