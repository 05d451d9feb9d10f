// The configuration that the daemon runs with: the file as it was read last, except for what waits for the next start.
// LC1. A file with a mistake changes nothing: it is refused with line and column, and what was in effect stays.
// LC2. The hash is of the bytes that were read: a file that changes meanwhile counts as changed.
import { isFault } from "../base/fault.ts";
import { ok, type Result } from "../base/result.ts";
import type { EnvironmentRules } from "../core/environment.ts";
import { configFile } from "../home/config-file.ts";
import { type ConfigSource, configRefusal, type LoadedConfig, loadConfig, type Problem } from "../wire/files/config.ts";
import { takenUp } from "../wire/files/config-reload.ts";
import type { Config } from "../wire/files/config-schema.ts";
import type { ConfigFile, ReloadResult } from "../wire/rpc/rpc.ts";

export class LiveConfig {
  readonly #source: ConfigSource;
  #current: Config;
  #file: ConfigFile;

  private constructor(source: ConfigSource, { config, file }: ConfigRead) {
    this.#source = source;
    this.#current = config;
    this.#file = file;
  }

  static load(source: ConfigSource): Result<LiveConfig, readonly Problem[]> {
    const read = readFrom(source);
    return read.ok ? ok(new LiveConfig(source, read.value)) : read;
  }

  get current(): Config {
    return this.#current;
  }

  get file(): ConfigFile {
    return this.#file;
  }

  reload(): Result<ReloadResult> {
    const read = readable(this.#source);
    if (!read.ok) return read; // LC1
    const { config, applied, restart } = takenUp(this.#current, read.value.config);
    this.#current = config;
    this.#file = { ...read.value.file, ...(restart.length > 0 && { restart }) };
    return ok({ path: read.value.file.path, applied, restart });
  }
}

/** A file that cannot be read changes nothing either. */
function readable(source: ConfigSource): Result<ConfigRead> {
  try {
    const read = readFrom(source);
    return read.ok ? read : { ok: false, error: configRefusal(read.error) };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { ok: false, error: { code: error.code, message: error.message, hint: error.hint } };
  }
}

type ConfigRead = Pick<LoadedConfig, "config"> & { readonly file: ConfigFile };

function readFrom(source: ConfigSource): Result<ConfigRead, readonly Problem[]> {
  let bytes: Uint8Array | undefined;
  const loaded = loadConfig({
    ...source,
    read: (path) => {
      bytes = source.read(path);
      return bytes;
    },
  });
  if (!loaded.ok) return loaded;
  return ok({ config: loaded.value.config, file: configFile({ ...source, read: () => bytes }) }); // LC2
}

/** For the log. */
export function reloadedText({ path, applied, restart }: ReloadResult): string {
  const words = [
    `reloaded ${path ?? "the configuration"}: ${applied.length === 0 ? "nothing new" : applied.join(", ")}`,
    ...(restart.length === 0 ? [] : [`at the next start: ${restart.join(", ")}`]),
  ];
  return words.join("; ");
}

/** Which variables are stored, as the configuration says at the moment. */
export function environmentRules(live: LiveConfig): EnvironmentRules {
  return {
    get allow() {
      return live.current.terminal.envAllow;
    },
    get deny() {
      return live.current.terminal.envDeny;
    },
  };
}
