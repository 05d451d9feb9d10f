// `holdfast log verify`: checks every line of a home, or of one session, and reports what it found.
// Y1. Damage is reported only if every look found it in the same place: while a daemon writes, a single look can hit a
//     line that is just being written, or a segment that is just being reused.

import { ok } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { type Finding, type Inspection, LogView } from "../../log/inspect.ts";
import { logBytes } from "../../log/session/log-segments.ts";
import { sessionPath } from "../../log/session/places.ts";
import { type CommandWorld, command, EXIT, type Exit } from "../command-world.ts";
import type { DataFlags } from "../flags.ts";
import { say } from "../print.ts";
import { type LogVerdict, verdictText } from "./verdict.ts";
import { betweenLooks, isRunning, LOOKS, type Opened, openView } from "./view.ts";

/** Checking less than this takes only a moment. */
const LONG_BYTES = 64 << 20;

async function verify(world: CommandWorld, flags: DataFlags, key?: string): Promise<Exit> {
  const opened = await openView(world, flags, key);
  if (!opened.ok) return opened;
  await sayWhatIsComing(world, opened.value);
  const { home } = opened.value;
  const inspection = await settled(world, opened.value, key !== undefined);
  const whole = !inspection.findings.some(isDamage);
  const verdict: LogVerdict = { home, whole, running: isRunning(world, home), ...inspection };
  const text = flags.json ? visibleLine(JSON.stringify(verdict)) : verdictText(verdict, world.console);
  await world.console.out.write(`${text}\n`);
  return ok(whole ? EXIT.ok : EXIT.failed);
}

export function isDamage(finding: Finding): boolean {
  return finding.kind === "damage";
}

/** Y1 */
export async function settled(
  world: CommandWorld,
  { home, view, sessions }: Opened,
  one: boolean,
): Promise<Inspection> {
  let found = view.inspect(sessions);
  for (let look = 1; look < LOOKS && found.findings.some(isDamage); look++) {
    await betweenLooks(world.clock);
    const again = new LogView(world.disk, home);
    const inspection = again.inspect(one ? sessions : again.sessions);
    found = { ...inspection, findings: inspection.findings.filter((finding) => isStill(finding, found)) };
  }
  return found;
}

function isStill(finding: Finding, before: Inspection): boolean {
  if (!isDamage(finding)) return true;
  const { where, offset, what } = finding;
  return before.findings.some(
    (was) => isDamage(was) && was.where === where && was.offset === offset && was.what === what,
  );
}

/** A waiting person should know why. */
async function sayWhatIsComing({ console, disk }: CommandWorld, { home, sessions }: Opened): Promise<void> {
  if (!console.err.tty) return;
  const bytes = sessions.reduce((sum, session) => sum + logBytes(disk, sessionPath(disk, home, session)), 0);
  if (bytes >= LONG_BYTES) await say(console, `checking ${(bytes / (1 << 20)).toFixed(0)} MiB …`);
}

export const verifyCommand = command(verify);
