// The configuration: one TOML file in the XDG config directory; without it, the defaults of config-schema.ts apply.
// O1. A wrong file is never half used: all its problems, or the whole configuration (DS-1).
// O2. Nothing here writes the file or creates its directory.
import { ok, type Refusal, type Result } from "../../base/result.ts";
import type { Env } from "./config-fields.ts";
import { defaultSettings, type Misfit, readSettings, type Settings } from "./config-read.ts";
import { type FileProblem, fileProblemText, textIn } from "./source.ts";
import { readToml } from "./toml.ts";

/** What loading needs: the environment, the file, and the directory that a relative path begins in. */
export type ConfigSource = {
  readonly env: Env;
  absolute(path: string): string;
  /** All bytes of a file; undefined if there is none. */
  read(path: string): Uint8Array | undefined;
};

export type Problem = Misfit & { readonly path: string };

/** A configuration and where it comes from; `path` is where the file is, or would be. */
export type LoadedConfig = Settings & { readonly path: string | undefined; readonly found: boolean };

/** People write a few kilobytes; a larger file is not a configuration. */
const MAX_BYTES = 1 << 20;

export function loadConfig(source: ConfigSource): Result<LoadedConfig, readonly Problem[]> {
  const path = configPath(source);
  const bytes = path === undefined ? undefined : source.read(path);
  const settings = settingsIn(bytes ?? new Uint8Array(), source.env);
  if (settings.ok) return ok({ ...settings.value, path, found: bytes !== undefined });
  return { ok: false, error: settings.error.map((misfit) => ({ ...misfit, path: path ?? "" })) };
}

/** Where the file is, or would be; undefined if the user's home is not known. */
export function configPath({ env, absolute }: Omit<ConfigSource, "read">): string | undefined {
  const named = env("HOLDFAST_CONFIG");
  if (named) return absolute(named);
  const directory = env("XDG_CONFIG_HOME");
  if (directory?.startsWith("/")) return `${directory}/holdfast/config.toml`; // XDG ignores relative ones.
  const home = env("HOME");
  return home ? `${home}/.config/holdfast/config.toml` : undefined;
}

function settingsIn(bytes: Uint8Array, env: Env): Result<Settings, Misfit[]> {
  if (bytes.length === 0) return ok(defaultSettings(env));
  const text = textIn(bytes, MAX_BYTES);
  if (!text.ok) return unusable(text.error);
  const table = readToml(text.value);
  if (table.ok) return readSettings({ line: 1, column: 1, value: table.value }, env);
  const { line, column, message } = table.error;
  return unusable({ line, column, message: `This is not TOML: ${message}.`, hint: SYNTAX });
}

const SYNTAX = "A setting is written `name = value`, below its [table].";

function unusable(problem: FileProblem): Result<never, Misfit[]> {
  return { ok: false, error: [{ ...problem, key: "" }] };
}

/** `config.toml:3:1: daemon.heartbeat_ms is "fast". It takes …`, as editors and people follow it. */
export function problemText(problem: Problem): string {
  return fileProblemText(problem.path, problem);
}

/** All problems as one refusal, for a program that cannot continue. */
export function configRefusal(problems: readonly Problem[]): Refusal {
  const [first] = problems;
  const message = ["The configuration has errors:", ...problems.map(problemText)].join("\n");
  return { code: "bad-config", message, hint: `Correct ${first?.path ?? "it"}, then try again. holdfast config check` };
}
