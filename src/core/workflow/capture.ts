// The variables that a step's end captures.
// C1. A text is captured without its trailing newlines, like $(…) in a shell.

import { follow, type Json, parseJson, parsePath } from "../../base/json.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { Output } from "./commands.ts";
import type { CaptureSource, Step } from "./definition.ts";
import { MAX_CAPTURED, MAX_RECORDED_OUTPUT, sizeOf } from "./limits.ts";

export function captured(step: Step, output: Output, code: number): Result<Readonly<Record<string, Json>>> {
  const found: [string, Json][] = [];
  for (const [name, source] of Object.entries(step.capture ?? {})) {
    const value = source === "exit_code" ? ok(code) : fromText(name, source, output);
    if (!value.ok) return value;
    found.push([name, value.value]);
  }
  const variables = Object.fromEntries(found);
  const size = sizeOf(variables);
  if (size <= MAX_CAPTURED) return ok(variables);
  return refused(
    "too-long",
    `${size} bytes were captured.`,
    `At most ${MAX_CAPTURED} are allowed; write them to a file.`,
  );
}

function fromText(name: string, source: CaptureSource, output: Output): Result<Json> {
  if (output.bytes > MAX_CAPTURED)
    return refused("too-long", `${output.bytes} bytes of output are too many for ${name}.`, "Write them to a file.");
  const text = output.text.replace(/\n+$/, ""); // C1
  if (source === "stdout") return ok(text);
  const value = parseJson(text);
  if (!value.ok) return refused("not-json", `The output for ${name} is not JSON.`, value.error.hint);
  if (source === "json") return value;
  const path = parsePath(source);
  if (!path.ok) return path;
  const inner = follow(value.value, path.value);
  return inner === undefined
    ? refused("no-such-path", `There is nothing at ${source} in the output for ${name}.`, "Look at the step's output.")
    : ok(inner);
}

/** The end of an output, for a record. */
export function recorded(text: string): string {
  return text.length <= MAX_RECORDED_OUTPUT ? text : text.slice(-MAX_RECORDED_OUTPUT);
}
