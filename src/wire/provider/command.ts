// Any CLI that takes a prompt and can resume a session, described in the configuration: each turn is one process.
// D1. `{prompt}`, `{session}`, `{model}`, `{cwd}` in an argument stand for those values. It stays one argument: no
//     shell reads it.
// D2. The first turn uses `command`, later ones `resume`. If the program chooses the session's id, it is found in the
//     output by `session_path` (a JSON path into any line of JSON); otherwise the id is ours.
// D3. A value never becomes an option: messages come from other agents, and a prompt may begin with `--yolo`. A word
//     that begins with a value which begins with `-` gets a space in front, and such a text is no session's id.
// D4. The answer is the last text that `output_path` leads to in a line of JSON; without one, see `responseIn`.
// D5. A session is resumed once the program has named it, or if the id is ours. A program that is told to resume, fails
//     and prints nothing does not have the session. One that was killed is not at fault: its turn goes on in another.

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

function launch(facts: SessionFacts, prompt: string) {
  const { recipe, session, cwd } = facts;
  const values: Readonly<Record<string, string>> = { prompt, session: session, model: recipe.model ?? "", cwd };
  const words = resumes(facts) ? wordsOf(recipe.options["resume"]) : recipe.command;
  const argv = [...words, ...recipe.flags].map((word) => {
    const fill = (whole: string, name: string) => values[name] ?? whole;
    const filled = word.replaceAll(/\{(prompt|session|model|cwd)\}/g, fill); // D1
    return filled.startsWith("-") && !word.startsWith("-") ? ` ${filled}` : filled; // D3
  });
  return { argv, env: {} };
}

/** D5 */
function resumes({ recipe, resume, named }: CodecFacts): boolean {
  return named || (resume && (recipe.options["session_path"] ?? "") === "");
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

function ended({ code }: ProcessExit, { text, errors }: WholeOutput, facts: CodecFacts): ProviderEvent[] {
  if (code === 0) return [{ kind: "done", response: responseIn(text, facts.recipe.options["output_path"]) }];
  if (code === null) return []; // D5
  const said = [text, errors].map((part) => part.trim().slice(-REASON_CHARS)).filter((part) => part !== "");
  const reason = [`It ended with exit code ${code}.`, ...said].join(" ");
  const isLost = text.trim() === "" && facts.named; // D5
  return [{ kind: "failed", reason, retryable: true, ...(isLost && { opening: true }) }];
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
