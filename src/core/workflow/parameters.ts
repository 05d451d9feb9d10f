// The parameters of a run: the given ones, checked against the file, and defaults for the others.
// PA1. A secret parameter is no variable of the run: its value is given to the programs that use it, and is in no
//      event, no file and no answer. Whoever starts the run gives it, or has it in a variable of the same name.
// PA2. A value that is clearly a secret is refused for any other parameter, because those are stored.

import { isList, isRecord, type Json, parseJson, textOf } from "../../base/json.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { hasSecret } from "../environment.ts";
import type { Definition, Parameter, ParameterType } from "./definition.ts";
import { MAX_ENV_TEXT } from "./limits.ts";

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
    if (parameter.secret === true) continue; // PA1
    const value = Object.hasOwn(given, name) ? given[name] : parameter.default;
    const wrong = wrongValue(name, parameter, value);
    if (wrong !== undefined) return wrong;
    if (value !== undefined) found.push([name, value]);
  }
  return ok(Object.fromEntries(found));
}

type Texts = Readonly<Record<string, string>>;

/** PA1. The secret ones among the given, or of the environment. */
export function secretParameters(definition: Definition, given: Given, env: Texts): Result<Texts> {
  const secret = secretNames(definition);
  const stored = Object.entries(given).find(([name, value]) => !secret.includes(name) && hasSecret(textOf(value)));
  if (stored !== undefined) return looksSecret(stored[0]); // PA2
  const found: [string, string][] = [];
  for (const name of secret) {
    const value = Object.hasOwn(given, name) ? given[name] : Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) return missing(name, true);
    if (typeof value !== "string" || value.includes("\0") || value.length > MAX_ENV_TEXT)
      return refused("bad-parameter", `The secret ${name} is no text, or too long.`, "Give what a variable can hold.");
    found.push([name, value]);
  }
  return ok(Object.fromEntries(found));
}

export function secretNames({ parameters = {} }: Definition): readonly string[] {
  return Object.entries(parameters).flatMap(([name, { secret }]) => (secret === true ? name : []));
}

function looksSecret(name: string): Result<never> {
  const hint = `Mark it in the file: ${name}: { secret: true }. Then it is given to programs, and never stored.`;
  return refused("looks-secret", `The parameter ${name} looks like a secret, and parameters are stored.`, hint);
}

function missing(name: string, isSecret: boolean): Result<never> {
  const hint = `Give it: ${isSecret ? `in the variable ${name}, or as ` : ""}--param ${name}=…`;
  return refused("missing-parameter", `The parameter ${name} is missing.`, hint);
}

function wrongValue(name: string, { type, required }: Parameter, value: Json | undefined) {
  if (value === undefined) {
    return required === true ? missing(name, false) : undefined;
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
