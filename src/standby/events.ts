// Tells the fleet and the log what happened to a home.
// EV1. An event that cannot be stored is in the log of this program: nothing waits for it.
import { EVENT } from "../fleet/calls.ts";
import { whyOf } from "../fleet/database.ts";
import type { StandbyPorts } from "./ports.ts";

export type EventKind = "taken" | "made" | "started" | "running" | "lost" | "failed" | "released";

export async function tell(
  { database, host, say }: StandbyPorts,
  { home, kind, words }: { readonly home: string; readonly kind: EventKind; readonly words: string },
): Promise<void> {
  say(words);
  const answer = await database.call(EVENT, { home, host: host.name, kind, words });
  if (answer.kind !== "done") say(`that could not be stored as an event: ${whyOf(answer)}`); // EV1
}
