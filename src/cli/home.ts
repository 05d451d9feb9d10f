// Finds the home: `--home`, else HOLDFAST_HOME, else the XDG state directory. Only starting Holdfast creates one.
import { ok, type Result, refused } from "../base/result.ts";
import type { Console } from "../world/console.ts";
import type { Disk } from "../world/disk.ts";

const SET_IT = "Choose it with --home DIR or HOLDFAST_HOME.";

/** The home that is meant, whether it exists or not. */
export function chosenHome(console: Console, given: string | undefined): string | undefined {
  const named = given ?? console.env("HOLDFAST_HOME");
  if (named !== undefined) return console.absolute(named);
  const state = console.env("XDG_STATE_HOME");
  if (state?.startsWith("/")) return console.absolute(`${state}/holdfast`); // The standard ignores relative paths.
  const user = console.env("HOME");
  return user === undefined ? undefined : console.absolute(`${user}/.local/state/holdfast`);
}

export function existingHome(outside: { console: Console; disk: Disk }, given: string | undefined): Result<string> {
  const home = chosenHome(outside.console, given);
  if (home === undefined) return nowhere();
  const found = outside.disk.stat(home);
  if (found?.kind === "directory") return ok(home);
  if (found !== undefined) return refused("no-home", `${home} is not a directory.`, SET_IT);
  const hint = "Holdfast creates it at its first start. If yours is elsewhere, give --home DIR or set HOLDFAST_HOME.";
  return refused("no-home", `There is no home at ${home}.`, hint);
}

/** The home that is meant, for commands that need none or create it. */
export function meantHome(outside: { console: Console; disk: Disk }, given: string | undefined): Result<string> {
  const home = chosenHome(outside.console, given);
  if (home === undefined) return nowhere();
  const found = outside.disk.stat(home);
  if (found === undefined || found.kind === "directory") return ok(home);
  return refused("no-home", `${home} is not a directory.`, SET_IT);
}

function nowhere() {
  return refused("no-home", "The home cannot be found: HOME is not set.", SET_IT);
}
