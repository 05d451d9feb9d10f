// What an attempt is started with, made from the run alone: always the same while the attempt lives.
// L1. Values reach a shell only through its environment (shell-text.ts), a program as one argument, an agent as text of
//     its prompt.
// L2. What cannot be passed (too long for an environment, or with a NUL) is refused before anything starts.
// L3. The value of a secret parameter is not here, only the name of the variable that has to get it (PA1 of
//     parameters.ts).

import { textOf } from "../../base/json.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { INTERPRETER, type Step, stepById } from "./definition.ts";
import { evaluate, type Scope } from "./evaluate.ts";
import { MAX_ENV_TEXT } from "./limits.ts";
import { secretNames } from "./parameters.ts";
import type { Attempt, Run, Track } from "./run.ts";
import { tracksOf } from "./run.ts";
import { scopeOf } from "./scope.ts";
import { type ShellText, shellText } from "./shell-text.ts";
import { asRefusal, fillAll, fillText, parseTemplate } from "./template.ts";

/** A file that must exist before the start: `file(…)`. */
export type LaunchFile = { readonly path: string; readonly text: string };

type Surroundings = {
  readonly cwd: string;
  /** All of it except what the daemon adds (TERM, its own names). */
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly LaunchFile[];
  /** Secret parameters by the variables that get them (L3). */
  readonly secrets: Names;
};
type Names = Readonly<Record<string, string>>;

export type Launch =
  | ({ readonly kind: "program"; readonly argv: readonly string[] } & Surroundings)
  | ({
      readonly kind: "agent";
      readonly provider: string;
      readonly prompt: string;
      readonly argv: readonly string[];
    } & Surroundings);

/**
 * `directory` is the attempt's own, for the files of `file(…)`. Refused only for an attempt that the run does not have.
 */
export function launchOf(run: Run, attempt: string, directory: string): Result<Launch> {
  const track = tracksOf(run).find((one) => one.attempt?.id === attempt);
  const step = track?.attempt === undefined ? undefined : stepById(run.definition, track.attempt.step);
  if (track?.attempt === undefined || step === undefined)
    return refused("unknown", `There is no attempt ${attempt}.`, "`holdfast workflows` shows what is running.");
  return launchStep(run, track, step, { attempt: track.attempt, directory });
}

/** Also called before an attempt starts, to see whether it could be started at all. */
export function launchStep(
  run: Run,
  track: Track,
  step: Step,
  to: { readonly attempt: Pick<Attempt, "id" | "try">; readonly directory: string },
): Result<Launch> {
  const files: LaunchFile[] = [];
  const file = (text: string) => {
    const path = `${to.directory}/file-${files.length + 1}`;
    files.push({ path, text });
    return path;
  };
  const scope = { ...scopeOf(run, track), file };
  const cwd = fillText(step.cwd ?? ".", scope);
  const secret = secretNames(run.definition);
  const [plain, ofEnv] = splitSecrets(step.env ?? {}, secret);
  const given = fillAll({ ...run.definition.env, ...plain }, scope, fillText);
  const work = workOf(run, step, scope);
  if (!cwd.ok) return cwd;
  if (!given.ok) return given;
  if (!work.ok) return work;
  const { env: values, secrets = {}, ...launch } = work.value;
  const env = { ...run.environment, ...given.value, ...facts(run, track, step, to.attempt), ...values };
  const wrong = tooMuch(env);
  return wrong ?? ok({ ...launch, cwd: inside(run.cwd, cwd.value), env, files, secrets: { ...ofEnv, ...secrets } });
}

/** L3. The variables that are given, and those that are nothing but a secret parameter. */
function splitSecrets(env: Names, secret: readonly string[]): readonly [Names, Names] {
  const { plain = [], secrets = [] } = Object.groupBy(
    Object.entries(env).map(([name, text]) => [name, text, secretIn(text, secret)] as const),
    ([, , parameter]) => (parameter === undefined ? "plain" : "secrets"),
  );
  return [
    Object.fromEntries(plain.map(([name, text]) => [name, text])),
    Object.fromEntries(secrets.map(([name, , parameter = ""]) => [name, parameter])),
  ];
}

function secretIn(text: string, secret: readonly string[]): string | undefined {
  if (secret.length === 0) return undefined;
  const parts = parseTemplate(text);
  const [only, ...others] = parts.ok ? parts.value : [];
  const name = only?.kind === "value" && only.expression.kind === "name" ? only.expression.name : "";
  return others.length === 0 && secret.includes(name) ? name : undefined;
}

type Started =
  | {
      readonly kind: "program";
      readonly argv: readonly string[];
      readonly env: Names;
      readonly secrets?: Names;
    }
  | {
      readonly kind: "agent";
      readonly provider: string;
      readonly prompt: string;
      readonly argv: readonly string[];
      readonly env: Names;
      readonly secrets?: Names;
    };

function workOf(run: Run, { work }: Step, scope: Scope): Result<Started> {
  if (work.kind === "set") return refused("not-a-program", "A set step starts nothing.", "This is a bug in Holdfast.");
  if (work.kind === "shell") {
    const text = parsedShell(work.command);
    return text.ok ? shell(run, text.value, scope) : text;
  }
  const prompt = fillText(work.prompt, scope);
  if (!prompt.ok) return prompt;
  const argv: string[] = [];
  for (const word of work.command ?? []) {
    const filled = fillText(word, scope);
    if (!filled.ok) return filled;
    argv.push(filled.value);
  }
  return ok({ kind: "agent", provider: work.provider, prompt: prompt.value, argv, env: {} });
}

function parsedShell(command: string): Result<ShellText> {
  const text = shellText(command);
  return text.ok ? text : { ok: false, error: asRefusal(text.error) };
}

function shell({ definition }: Run, { script, values }: ShellText, scope: Scope): Result<Started> {
  const env: [string, string][] = [];
  const secrets: [string, string][] = [];
  const secret = secretNames(definition);
  for (const { name, expression } of values) {
    if (expression.kind === "name" && secret.includes(expression.name)) {
      secrets.push([name, expression.name]); // L3
      continue;
    }
    const value = evaluate(expression, scope);
    if (!value.ok) return value;
    env.push([name, textOf(value.value)]);
  }
  return ok({
    kind: "program",
    argv: [...(definition.interpreter ?? INTERPRETER), script],
    env: Object.fromEntries(env),
    secrets: Object.fromEntries(secrets),
  });
}

/**
 * For programs that want to know. HOLDFAST_KEY is the same for every try of a step: a key for what must happen once.
 */
function facts(run: Run, track: Track, step: Step, attempt: Pick<Attempt, "id" | "try">): Record<string, string> {
  const key = [run.id, step.id, track.place.iteration, ...(track.item === undefined ? [] : [track.item])];
  return {
    HOLDFAST_RUN: run.id,
    HOLDFAST_STEP: step.id,
    HOLDFAST_ATTEMPT: attempt.id,
    HOLDFAST_TRY: String(attempt.try),
    HOLDFAST_KEY: key.join("/"),
  };
}

/** L2. */
function tooMuch(env: Readonly<Record<string, string>>): ReturnType<typeof refused> | undefined {
  for (const [name, text] of Object.entries(env)) {
    if (text.includes("\0")) return refused("bad-value", `${name} would contain a NUL.`, "No program can accept that.");
    if (text.length > MAX_ENV_TEXT)
      return refused(
        "too-long",
        `A value of ${text.length} characters is too long for a program's environment.`,
        "Pass it as a file: ${file(…)} is the path of one with the value in it.",
      );
  }
  return undefined;
}

function inside(cwd: string, path: string): string {
  if (path.startsWith("/")) return path;
  return path === "." || path === "" ? cwd : `${cwd}/${path}`;
}
