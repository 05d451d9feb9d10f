// `holdfast logs`: the log of watchdog and daemon, and with --follow new lines as they arrive.
// With a run: the output of its steps (workflow/step-logs.ts).
// LG1. A log that is rotated meanwhile is read from its beginning again.

import { localTimes, type Zone } from "../../base/local-time.ts";
import { joinPath } from "../../base/path.ts";
import { ok, refused } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { RUN } from "../../home/layout.ts";
import { logPath } from "../../home/run-log.ts";
import { type CommandWorld, EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { readPart, written } from "../log-file.ts";

export type LogsFlags = DataFlags & {
  readonly lines?: number;
  readonly follow?: boolean;
  readonly step?: string;
  readonly attempt?: number;
  readonly item?: number;
};

const USUAL_LINES = 50;

/** Nobody reads more lines than fit in here. */
const MAX_BYTES = 1 << 20;

/** With a run or a step it is about a workflow, not about Holdfast itself. */
async function logs(world: DaemonCommandWorld, flags: LogsFlags, run?: string): Promise<Exit> {
  const { step, lines, attempt, item } = flags;
  if ([run, step, attempt, item].every((one) => one === undefined)) return ownLogs(world, flags);
  if (lines !== undefined)
    return refused("usage", "--lines does not apply to runs.", "All of their output is printed.");
  const { stepLogs } = await import("../workflow/step-logs.ts");
  return stepLogs(world, flags, run);
}

async function ownLogs(world: CommandWorld, { lines: wanted = USUAL_LINES, ...flags }: LogsFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const path = logPath(home.value);
  const size = world.disk.stat(path)?.size;
  if (size === undefined && !flags.follow) {
    return refused("unknown", `There is no log at ${path} yet.`, "`holdfast up` starts Holdfast, which writes it.");
  }
  const from = Math.max(0, (size ?? 0) - MAX_BYTES);
  const lines = readPart(world.disk, path, from, MAX_BYTES).split("\n");
  const rest = lines.pop() ?? "";
  const last = wanted === 0 ? [] : written(lines).slice(-wanted);
  if (!flags.follow) {
    const text = flags.json ? `${visibleLine(JSON.stringify(last))}\n` : linesText(world.console, last, false);
    await world.console.out.write(text);
    return ok(EXIT.ok);
  }
  await world.console.out.write(linesText(world.console, last, flags.json === true));
  await follow(world, { home: home.value, at: (size ?? 0) - Buffer.byteLength(rest) }, flags.json === true);
  return ok(EXIT.ok);
}

function linesText(zone: Zone, lines: readonly string[], json: boolean): string {
  const shown = (line: string) => (json ? visibleLine(JSON.stringify(line)) : visible(localTimes(zone, line)));
  return lines.map((line) => `${shown(line)}\n`).join("");
}

async function follow(
  world: CommandWorld,
  place: { readonly home: string; readonly at: number },
  json: boolean,
): Promise<void> {
  const path = logPath(place.home);
  let at = place.at;
  let changed = Promise.withResolvers<"changed">();
  const stop = world.watch.directory(joinPath(place.home, RUN), () => changed.resolve("changed"));
  const stopped = world.console.interrupted().then(() => "stopped" as const);
  try {
    do {
      changed = Promise.withResolvers();
      at = Math.min(at, world.disk.stat(path)?.size ?? 0) === at ? at : 0; // LG1
      const text = readPart(world.disk, path, at, MAX_BYTES);
      const whole = text.slice(0, text.lastIndexOf("\n") + 1);
      at += Buffer.byteLength(whole);
      await world.console.out.write(linesText(world.console, written(whole.split("\n").slice(0, -1)), json));
    } while ((await Promise.race([changed.promise, stopped])) === "changed");
  } finally {
    stop?.();
  }
}

export const logsCommand = withDaemonWorld(logs);
