// Finds the home of a relay: `--home`, else holdfast-relay in the XDG state directory. HOLDFAST_HOME is another thing.
import { ok, type Result, refused } from "../../base/result.ts";
import type { Console } from "../../world/console.ts";

const NAME = "holdfast-relay";

export function relayHome(console: Console, given: string | undefined): Result<string> {
  if (given !== undefined) return ok(console.absolute(given));
  const state = console.env("XDG_STATE_HOME");
  if (state?.startsWith("/")) return ok(console.absolute(`${state}/${NAME}`));
  const user = console.env("HOME");
  if (user !== undefined) return ok(console.absolute(`${user}/.local/state/${NAME}`));
  return refused("no-home", "The relay's home cannot be found: HOME is not set.", "Choose it with --home DIR.");
}
