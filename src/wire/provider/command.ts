// Any CLI that takes a prompt and can resume a session, described in the configuration: each turn is one process.
// D1. `{prompt}`, `{session}`, `{model}`, `{cwd}` in an argument stand for those values. It stays one argument: no
//     shell reads it.
// D2. The first turn uses `command`, later ones `resume`. If the program chooses the session's id, it is found in the
//     output by `session_path` (a JSON path into any line of JSON); otherwise the id is ours.
// D4. The answer is the last text that `output_path` leads to in a line of JSON; without one, see `responseIn`.
// D3. A value never becomes an option: messages come from other agents, and a prompt may begin with `--yolo`. A word
//     that begins with a value which begins with `-` gets a space in front, and such a text is no session's id.

import { follow, isList, type Json, parseJson, parsePath, textOf } from "../../base/json.ts";
import type {
  Codec,
  CodecFacts,
  ProcessExit,
  ProviderEvent,
  SessionFacts,
  WholeOutput,
} from "../../core/agent/provider.ts";
import { readObject } from "./json-line.ts";

/** Nobody reads more of a reason. */
const REASON_CHARS = 2_000;
/** D3. Ids of sessions are a few dozen characters. */
const SESSION = /^(?!-)\P{Cc}{1,256}$/u;

export const command: Codec = {
  launch,
  encode: () => [], // Everything is in its arguments.
  decode: (line, { recipe }) => ({ events: sessionIn(line, recipe.options["session_path"]), replies: [] }),
  ended,
};

function launch({ recipe, session, resume, cwd }: SessionFacts, prompt: string) {
  const values: Readonly<Record<string, string>> = { prompt, session: session, model: recipe.model ?? "", cwd };
  const words = resume ? wordsOf(recipe.options["resume"]) : recipe.command;
  const argv = [...words, ...recipe.flags].map((word) => {
    const fill = (whole: string, name: string) => values[name] ?? whole;
    const filled = word.replaceAll(/\{(prompt|session|model|cwd)\}/g, fill); // D1
    return filled.startsWith("-") && !word.startsWith("-") ? ` ${filled}` : filled; // D3
  });
  return { argv, env: {} };
}

function wordsOf(value: Json | undefined): readonly string[] {
  return isList(value) ? value.filter((word) => typeof word === "string") : [];
}

/** D2 */
function sessionIn(line: string, path: Json | undefined): ProviderEvent[] {
  const session = textAt(line, path);
  return session !== undefined && SESSION.test(session) ? [{ kind: "session", session }] : [];
}

function textAt(line: string, path: Json | undefined): string | undefined {
  const parts = typeof path === "string" ? parsePath(path) : undefined;
  const found = readObject(line);
  const value = parts?.ok === true && found !== undefined ? follow(found, parts.value) : undefined;
  return typeof value === "string" ? value : undefined;
}

function ended({ code, signal }: ProcessExit, { text, errors }: WholeOutput, { recipe }: CodecFacts): ProviderEvent[] {
  if (code === 0) return [{ kind: "done", response: responseIn(text, recipe.options["output_path"]) }];
  const how = signal === null ? `It ended with exit code ${code}.` : `It was ended by ${signal}.`;
  const said = [text, errors].map((part) => part.trim().slice(-REASON_CHARS)).filter((part) => part !== "");
  return [{ kind: "failed", reason: [how, ...said].join(" "), retryable: true }];
}

/** D4. Without a path, or if it leads nowhere: the `result` or `response` of the last line of JSON, else everything. */
function responseIn(output: string, path: Json | undefined): string {
  const lines = output.trimEnd().split("\n");
  for (const line of lines.toReversed()) {
    const text = textAt(line, path);
    if (text !== undefined) return text;
  }
  const last = parseJson(lines.at(-1) ?? "");
  if (!last.ok) return output.trimEnd();
  const value =
    follow(last.value, [{ kind: "name", name: "result" }]) ?? follow(last.value, [{ kind: "name", name: "response" }]);
  return value === undefined ? output.trimEnd() : textOf(value);
}
