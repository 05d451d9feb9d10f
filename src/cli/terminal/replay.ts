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

/** Nobody watches a prompt for an hour. */
const MAX_IDLE_MS = 2_000;

export type ReplayFlags = DataFlags & {
  readonly at?: string;
  readonly from?: string;
  readonly to?: string;
  readonly export?: string;
  readonly speed?: number;
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

function misused({ at, from, to, export: file, speed, maxIdle, json }: ReplayFlags): string | undefined {
  if (at !== undefined && [from, to, file, speed, maxIdle].some((value) => value !== undefined))
    return "--at shows one moment: it does not go with --from, --to, --export, --speed and --max-idle.";
  if (file !== undefined && speed !== undefined) return "--speed is for playing, not for --export.";
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
  if (flags.export !== undefined) return exportTo(world, recording, range.value, flags.export);
  if (!world.terminal.there)
    return refused(
      "no-terminal",
      "Standard input or output is not a terminal.",
      "Use --at TIME for one screen, or --export FILE for all of it; or replay it in a terminal.",
    );
  const { Player } = await import("./player.ts");
  const { disk, clock, terminal, console } = world;
  const player = new Player(
    { disk, clock, terminal, widthOf: console.widthOf },
    recording,
    range.value,
    flags.speed ?? 1,
  );
  await console.staying(player.run());
  return ok(EXIT.ok);
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
  const usual = flags.export === undefined ? MAX_IDLE_MS : Number.POSITIVE_INFINITY;
  return ok({ from: from.value, to: to.value, maxIdle: flags.maxIdle ?? usual });
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
