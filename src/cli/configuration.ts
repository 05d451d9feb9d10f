// The configuration as the command line reads it.
import type { Result } from "../base/result.ts";
import { readWhole } from "../log/file.ts";
import { type LoadedConfig, loadConfig, type Problem } from "../wire/config.ts";
import type { Outside } from "./outside.ts";

export function readConfig({ console, disk }: Outside): Result<LoadedConfig, readonly Problem[]> {
  return loadConfig({ env: console.env, absolute: console.absolute, read: (path) => readWhole(disk, path) });
}
