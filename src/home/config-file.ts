// Which configuration file a program of Holdfast uses, and what was in it: programs read it once, when they start.
import { type ConfigSource, configPath } from "../wire/files/config.ts";
import type { ConfigFile } from "../wire/rpc/rpc.ts";
import { sha256 } from "../world/hash.ts";

export function configFile(source: ConfigSource): ConfigFile {
  const path = configPath(source);
  const bytes = path === undefined ? undefined : source.read(path);
  return { path: path ?? null, sha256: bytes === undefined ? null : sha256(bytes) };
}

/** How the configuration here differs from the daemon's; undefined if it does not, as far as is known. */
export function differenceOf(here: ConfigFile, daemon: ConfigFile | undefined): string | undefined {
  if (daemon === undefined || here.sha256 === daemon.sha256) return undefined; // Older daemons do not tell.
  if (here.path === daemon.path) return `${here.path} has changed since the daemon started`;
  const used = daemon.sha256 === null ? "the defaults" : daemon.path;
  return `the running daemon uses ${used}, not ${here.sha256 === null ? "the defaults" : here.path}`;
}
