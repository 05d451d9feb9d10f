// The parameters of a run: the given ones, checked against the file, and defaults for the others.

import { isList, isRecord, type Json, parseJson } from "../../base/json.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { Definition, Parameter, ParameterType } from "./definition.ts";

type Given = Readonly<Record<string, Json>>;

export function checkParameters({ parameters = {} }: Definition, given: Given): Result<Given> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(parameters, name));
  if (unknown !== undefined) {
    const known = Object.keys(parameters).join(", ");
    const hint = known === "" ? "It takes none." : `The parameters are: ${known}.`;
    return refused("bad-parameter", `The workflow has no parameter ${unknown}.`, hint);
  }
  const found: [string, Json][] = [];
  for (const [name, parameter] of Object.entries(parameters)) {
    const value = Object.hasOwn(given, name) ? given[name] : parameter.default;
    const wrong = wrongValue(name, parameter, value);
    if (wrong !== undefined) return wrong;
    if (value !== undefined) found.push([name, value]);
  }
  return ok(Object.fromEntries(found));
}

function wrongValue(name: string, { type, required }: Parameter, value: Json | undefined) {
  if (value === undefined) {
    if (required !== true) return undefined;
    return refused("missing-parameter", `The parameter ${name} is missing.`, `Give it: --param ${name}=…`);
  }
  if (isOfType(value, type)) return undefined;
  return refused("bad-parameter", `The parameter ${name} is ${JSON.stringify(value)}.`, `It takes ${WORDS[type]}.`);
}

const WORDS: Readonly<Record<ParameterType, string>> = {
  string: "a text",
  number: "a number",
  boolean: "true or false",
  list: "a list",
  object: "names and values",
};

export function isOfType(value: Json, type: ParameterType): boolean {
  if (type === "list") return isList(value);
  return type === "object" ? isRecord(value) : typeof value === type;
}

/**
 * A parameter from the command line: the text itself for a text, JSON for other types. `checkParameters` handles
 * unknown names.
 */
export function parameterFrom({ parameters = {} }: Definition, name: string, text: string): Json {
  const type = Object.hasOwn(parameters, name) ? parameters[name]?.type : "string";
  if (type === undefined || type === "string") return text;
  const value = parseJson(text);
  return value.ok ? value.value : text;
}
