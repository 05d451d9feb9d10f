// Where an older program keeps its runs (UC-10): Prodigy's own directories, and what was brought into this home.
import { joinPath } from "../../base/path.ts";
import { terminalEnvironment } from "../../home/environment.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

/** Steps have no terminal. */
const TERM = "dumb";

/** This home, then $PRODIGY_HOME and ~/.prodigy, if there are such directories. */
export function oldHomes({ console, disk }: DaemonCommandWorld, home: string): string[] {
  const { HOME: user, PRODIGY_HOME: given } = { HOME: console.env("HOME"), PRODIGY_HOME: console.env("PRODIGY_HOME") };
  const paths = [home, ...(given ? [console.absolute(given)] : []), ...(user ? [joinPath(user, ".prodigy")] : [])];
  const there = paths.filter((path) => disk.stat(path)?.kind === "directory");
  const all = [...new Set(there.map((path) => disk.realPath(path) ?? path))];
  return all.filter((path) => !all.some((above) => path.startsWith(`${above}/`))); // What is in another is found there.
}

/** The environment that the steps of runs get that are taken over. */
export function oldEnvironment({ self }: DaemonCommandWorld): Readonly<Record<string, string>> {
  return terminalEnvironment(self.environment(), TERM);
}
