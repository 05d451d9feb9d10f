// The configuration as the command line reads it.
import type { Result } from "../base/result.ts";
import { readWhole } from "../log/file/file.ts";
import { type LoadedConfig, loadConfig, type Problem } from "../wire/files/config.ts";
import type { CommandWorld } from "./command-world.ts";

export function readConfig({ console, disk }: CommandWorld): Result<LoadedConfig, readonly Problem[]> {
  return loadConfig({ env: console.env, absolute: console.absolute, read: (path) => readWhole(disk, path) });
}
