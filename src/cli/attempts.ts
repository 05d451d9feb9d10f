// What agents tried in the last day and may not do (home/attempts.ts), for `status` and `prompts`.

import { localTime } from "../base/local-time.ts";
import { visibleLine } from "../base/visible.ts";
import { attemptsSince, type NotedAttempt } from "../home/attempts.ts";
import type { CommandWorld } from "./command-world.ts";
import { count, say } from "./print.ts";

const DAY_MS = 24 * 60 * 60_000;
/** A person reads no more of the same. */
const MAX_SHOWN = 10;

export function recentAttempts({ disk, clock }: Pick<CommandWorld, "disk" | "clock">, home: string): NotedAttempt[] {
  return attemptsSince(disk, home, clock.now() - DAY_MS);
}

export async function sayAttempts(world: CommandWorld, home: string): Promise<void> {
  const attempts = recentAttempts(world, home);
  if (attempts.length === 0) return;
  const lines = attempts.slice(-MAX_SHOWN).map((attempt) => visibleLine(`  ${lineOf(world, attempt)}`));
  const head = `refused in the last day: ${count(attempts.length, "attempt")} of agents`;
  await say(world.console, [head, ...lines].join("\n"));
}

function lineOf(
  { console }: CommandWorld,
  { at, did, caller: { agent = "unknown", cli, pid, exe, tty } }: NotedAttempt,
): string {
  const who = [`process ${pid ?? "?"}`, exe, tty].filter((word) => word !== null).join(", ");
  const whose = cli === undefined ? `agent ${agent.slice(0, 12)}` : `${cli} in a terminal`;
  return `${localTime(console, at)}  ${whose}  ${did}  (${who})`;
}
