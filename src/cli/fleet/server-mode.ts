// How the database of the fleet keeps what it confirms, and how far its clock is from ours.
import { ok, type Result } from "../../base/result.ts";
import { MODE, type ServerMode } from "../../fleet/calls.ts";
import type { Database } from "../../fleet/database.ts";
import type { Clock } from "../../world/clock.ts";
import { answered } from "./reach.ts";

/** `clockMs`: how far the database's clock is ahead of ours, give or take half of `tookMs`. */
export type SeenMode = { readonly mode: ServerMode; readonly clockMs: number; readonly tookMs: number };

export async function serverMode(clock: Clock, database: Database): Promise<Result<SeenMode>> {
  const [sentAt, began] = [clock.now(), clock.elapsed()];
  const mode = answered(await database.call(MODE, undefined));
  if (!mode.ok) return mode;
  const clockMs = Math.round(mode.value.now - (sentAt + clock.now()) / 2);
  return ok({ mode: mode.value, clockMs, tookMs: clock.elapsed() - began });
}

/** What a fail-over of the database would lose, in one sentence. */
export function failOverText({ synchronous, commit }: ServerMode): string {
  if (commit === "off") return "The server acknowledges before it has written (synchronous_commit = off).";
  if (synchronous !== "" && commit !== "local")
    return "A fail-over of the database loses nothing: commits wait for a synchronous standby.";
  return "A fail-over of the database to a standby may lose the last commits: no standby is synchronous.";
}
