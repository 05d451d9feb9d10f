// The safe mode banner (SM-6): what is off, why, how to leave, how to report it; on stderr, before the command's
// output.

import { localTime } from "../base/local-time.ts";
import { visible, visibleLine } from "../base/visible.ts";
import { offTexts, readSafeMode } from "../home/safe-mode.ts";
import type { CommandWorld } from "./command-world.ts";

const LEAVE = "holdfast safe-mode exit";
const REPORT = "holdfast recovery report, and `holdfast logs` for what happened before";

export async function banner({ console, disk }: CommandWorld, home: string, json: boolean): Promise<void> {
  const mode = readSafeMode(disk, home);
  if (!mode.active) return;
  const off = offTexts(mode.off);
  const since = mode.since === "" ? "" : ` (since ${localTime(console, mode.since)})`;
  const message = `safe mode, because ${mode.reason}${since}`;
  if (json) {
    const hint = `Leave: ${LEAVE}. Report: ${REPORT}`;
    await console.err.write(`${visibleLine(JSON.stringify({ code: "safe-mode", message, off, hint }))}\n`);
    return;
  }
  const lines = [message, `off:    ${off.join("; ")}`, `leave:  ${LEAVE}`, `report: ${REPORT}`];
  await console.err.write(visible(lines.map((line) => `! ${line}\n`).join("")));
}
