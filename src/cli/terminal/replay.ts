// `holdfast replay`: a terminal's past. It reads the tape, its times and its key frames, and asks nobody: it works
// while the daemon is down and after the program has ended.
import { isFault } from "../../base/fault.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { hasTimes } from "../../home/held/past.ts";
import { writeAll } from "../../log/file/file.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { say } from "../print.ts";
import { findTerminal } from "./find.ts";
import { offsetOf, type Recording, recordingOf } from "./recording.ts";
import type { Range } from "./timeline.ts";

export type ReplayFlags = DataFlags & {
  readonly at?: string;
  readonly from?: string;
  readonly to?: string;
  readonly export?: string;
  readonly maxIdle?: number;
};

async function replay(world: DaemonCommandWorld, flags: ReplayFlags, key: string): Promise<Exit> {
  const wrong = misused(flags);
  if (wrong !== undefined) return refused("usage", wrong, "holdfast replay --help");
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const found = await findTerminal(world, home.value, key);
  if (!found.ok) return found;
  const recording = recordingOf(world.disk, home.value, found.value);
  return flags.at === undefined
    ? replayRange(world, flags, recording)
    : replayAt(world, recording, flags.at, flags.json);
}

function misused({ at, from, to, export: file, maxIdle, json }: ReplayFlags): string | undefined {
  if (at !== undefined && [from, to, file, maxIdle].some((value) => value !== undefined))
    return "--at shows one moment: it does not go with --from, --to, --export and --max-idle.";
  return json && at === undefined ? "--json goes with --at only." : undefined;
}

async function replayAt(world: DaemonCommandWorld, recording: Recording, at: string, json = false): Promise<Exit> {
  const offset = offsetOf(world.clock, recording, at);
  if (!offset.ok) return offset;
  const { showAt } = await import("./replay-at.ts");
  return ok(await showAt(world, recording, offset.value, json));
}

async function replayRange(world: DaemonCommandWorld, flags: ReplayFlags, recording: Recording): Promise<Exit> {
  const range = rangeOf(world, flags, recording);
  if (!range.ok) return range;
  if (flags.export === undefined) return refused("usage", "Which moment?", "holdfast replay NAME --at 10m");
  return exportTo(world, recording, range.value, flags.export);
}

/** Without times there is nothing to replay. */
function rangeOf({ clock }: DaemonCommandWorld, flags: ReplayFlags, recording: Recording): Result<Range> {
  const timed = hasTimes(recording.times);
  if (!timed.ok) return timed;
  const from = flags.from === undefined ? ok(recording.start) : offsetOf(clock, recording, flags.from);
  if (!from.ok) return from;
  const to = flags.to === undefined ? ok(recording.end) : offsetOf(clock, recording, flags.to);
  if (!to.ok) return to;
  if (from.value >= to.value) return refused("usage", "Nothing was printed in that time.", "Choose other times.");
  return ok({ from: from.value, to: to.value, maxIdle: flags.maxIdle ?? Number.POSITIVE_INFINITY });
}

async function exportTo(world: DaemonCommandWorld, recording: Recording, range: Range, file: string): Promise<Exit> {
  const { console } = world;
  const { exportCast } = await import("./replay-export.ts");
  const opened = file === "-" ? ok((line: string) => console.out.write(line)) : writerTo(world, file);
  if (!opened.ok) return opened;
  const missing = await exportCast(world, recording, range, opened.value);
  if (missing > 0) await say(console, `${missing} bytes of ${recording.name} are missing from its tape.`);
  return ok(EXIT.ok);
}

/** Writes lines to a new file. It stays open until the process ends. */
function writerTo({ console, disk }: DaemonCommandWorld, file: string): Result<(line: string) => Promise<void>> {
  try {
    const open = disk.open(console.absolute(file), "exclusive");
    let end = 0;
    return ok(async (line) => {
      const bytes = Buffer.from(line);
      writeAll(open, bytes, end);
      end += bytes.length;
    });
  } catch (error) {
    if (!isFault(error, "EEXIST")) throw error;
    return refused("usage", `${file} exists already.`, "Remove it, or name another file.");
  }
}

export const replayCommand = withDaemonWorld(replay);
