// The configuration: one TOML file in the XDG config directory; without one, everything is as config-schema.ts says.
// O1. A wrong file is never half used: all its problems, or the whole configuration (DS-1).
// O2. Only reading: nothing here writes the file, and looking for it makes nothing.
import { ok, type Refusal, type Result } from "../../base/result.ts";
import type { Env } from "./config-fields.ts";
import { type Misfit, readSettings, type Settings } from "./config-read.ts";
import { readToml, type TomlTable } from "./toml.ts";

/** What loading needs of the world: the environment, the file, and what a relative path means. */
export type ConfigSource = {
  readonly env: Env;
  absolute(path: string): string;
  /** All bytes of a file; undefined where there is none. */
  read(path: string): Uint8Array | undefined;
};

export type Problem = Misfit & { readonly path: string };

/** A configuration and where it comes from; `path` is where the file is, or would be. */
export type LoadedConfig = Settings & { readonly path: string | undefined; readonly found: boolean };

/** People write a few kilobytes; a file like this is something else. */
const MAX_BYTES = 1 << 20;

export function loadConfig(source: ConfigSource): Result<LoadedConfig, readonly Problem[]> {
  const path = configPath(source);
  const bytes = path === undefined ? undefined : source.read(path);
  const settings = settingsIn(bytes, source.env);
  if (settings.ok) return ok({ ...settings.value, path, found: bytes !== undefined });
  return { ok: false, error: settings.error.map((misfit) => ({ ...misfit, path: path ?? "" })) };
}

/** Where the file is, or would be; undefined where nothing says where the user's home is. */
export function configPath({ env, absolute }: Omit<ConfigSource, "read">): string | undefined {
  const named = env("HOLDFAST_CONFIG");
  if (named) return absolute(named);
  const directory = env("XDG_CONFIG_HOME");
  if (directory?.startsWith("/")) return `${directory}/holdfast/config.toml`; // The standard says to ignore relative ones.
  const home = env("HOME");
  return home ? `${home}/.config/holdfast/config.toml` : undefined;
}

function settingsIn(bytes: Uint8Array | undefined, env: Env): Result<Settings, Misfit[]> {
  const table = tableIn(bytes ?? new Uint8Array());
  return table.ok ? readSettings(table.value, env) : { ok: false, error: [table.error] };
}

function tableIn(bytes: Uint8Array): Result<TomlTable, Misfit> {
  if (bytes.length > MAX_BYTES)
    return unreadable(`The file has ${bytes.length} bytes.`, `At most ${MAX_BYTES} are read.`);
  const text = decoded(bytes);
  if (text === undefined) return unreadable("The file is not in UTF-8.", "Save it as UTF-8 text.");
  const table = readToml(text);
  if (table.ok) return table;
  const { line, column, message } = table.error;
  return { ok: false, error: { line, column, key: "", message: `This is no TOML: ${message}.`, hint: SYNTAX } };
}

const SYNTAX = "A setting is written `name = value`, below its [table].";

function unreadable(message: string, hint: string): { readonly ok: false; readonly error: Misfit } {
  return { ok: false, error: { line: 1, column: 1, key: "", message, hint } };
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** `config.toml:3:1: daemon.heartbeat_ms is "fast". It takes …`, as editors and people follow it. */
export function problemText({ path, line, column, message, hint }: Problem): string {
  return `${path}:${line}:${column}: ${message} ${hint}`;
}

/** All problems as one refusal, for a program that cannot go on. */
export function configRefusal(problems: readonly Problem[]): Refusal {
  const [first] = problems;
  const message = ["The configuration is wrong.", ...problems.map(problemText)].join("\n");
  return { code: "bad-config", message, hint: `Correct ${first?.path ?? "it"}, then try again. holdfast config check` };
}
