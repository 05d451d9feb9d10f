// Which configuration file a program of Holdfast uses, and what was in it: programs read it when they start, and the
// daemon also when it is reloaded.
import { type ConfigSource, configPath } from "../wire/files/config.ts";
import type { ConfigFile, Trouble } from "../wire/rpc/rpc.ts";
import { sha256 } from "../world/hash.ts";

export function configFile(source: ConfigSource): ConfigFile {
  const path = configPath(source);
  const bytes = path === undefined ? undefined : source.read(path);
  return { path: path ?? null, sha256: bytes === undefined ? null : sha256(bytes) };
}

/** How the configuration here differs from the daemon's, and what to do; undefined if it does not, or is not known. */
export function pendingOf(here: ConfigFile, daemon: ConfigFile | undefined): Trouble | undefined {
  if (daemon === undefined) return undefined; // Older daemons do not tell.
  const { restart = [] } = daemon;
  if (here.path !== daemon.path && here.sha256 !== daemon.sha256)
    return { what: otherFile(here, daemon), next: RESTART };
  if (here.sha256 !== daemon.sha256)
    return { what: `${here.path} has changed since the daemon read it`, next: "holdfast reload" };
  if (restart.length === 0) return undefined;
  return { what: `${restart.join(", ")} in ${here.path} will count from the next start on`, next: RESTART };
}

export const RESTART = "holdfast down && holdfast up";

function otherFile(here: ConfigFile, daemon: ConfigFile): string {
  const used = daemon.sha256 === null ? "the defaults" : daemon.path;
  return `the running daemon uses ${used}, not ${here.sha256 === null ? "the defaults" : here.path}`;
}
