// `holdfast recovery`: its progress, its report, the crashes on record, and a retry. Looking works while the daemon is
// down.

import { localTime, localTimes } from "../../base/local-time.ts";
import { joinPath } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { howItEnded } from "../../core/recovery.ts";
import { dial } from "../../home/dial.ts";
import { readLastCrash } from "../../home/last-crash.ts";
import { RECOVERY_STATE, REPORTS } from "../../home/layout.ts";
import { runningOn } from "../../home/running.ts";
import { readJson } from "../../log/file/json-file.ts";
import type { Report } from "../../wire/rpc/rpc.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { foldedFor } from "../fold.ts";
import { existingHome } from "../home.ts";
import { count, printJson, say } from "../print.ts";
import { hangs, type Progress, progressText } from "../start.ts";
import { listText, tableText } from "../table.ts";

export type ReportFlags = DataFlags;

async function status(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const shown = await stageNow(world, home.value);
  if (!shown.ok) return shown;
  const { stage, attempt, error, report, running } = shown.value;
  const back = running && stage !== "LIVE" ? progressText(shown.value) : undefined;
  const words = [
    `stage    ${stage ?? "no recovery yet"}${attempt === null ? "" : `, attempt ${attempt}`}`,
    ...(back === undefined ? [] : [`so far   ${back}`]),
    ...(error === null ? [] : [`failed   ${error}`, "  → holdfast recovery retry"]),
    ...(report === null ? [] : [`report   ${report}`, "  → holdfast recovery report"]),
  ];
  await world.console.out.write(
    flags.json
      ? `${visibleLine(JSON.stringify(shown.value))}\n`
      : visible(localTimes(world.console, `${words.join("\n")}\n`)),
  );
  return ok(EXIT.ok);
}

type Stage = {
  readonly stage: string | null;
  readonly attempt: number | null;
  readonly report: string | null;
  /** Why the stage failed, if it did. */
  readonly error: string | null;
  readonly running: boolean;
} & Progress;

/** From the daemon, or else as it was last recorded. */
async function stageNow(world: DaemonCommandWorld, home: string): Promise<Result<Stage>> {
  const kept = readJson(world.disk, joinPath(home, RECOVERY_STATE));
  const error = typeof kept?.["lastError"] === "string" ? kept["lastError"] : null;
  const line = await dial(world, home);
  if (!line.ok) return line;
  const told = await line.value?.call("status", {});
  line.value?.close();
  if (told?.ok === true) return ok({ ...told.value.recovery, error, running: true });
  const stage = typeof kept?.["stage"] === "string" ? kept["stage"] : null;
  const attempt = typeof kept?.["attemptCount"] === "number" ? kept["attemptCount"] : null;
  return ok({ stage, attempt, report: reportNames(world, home).at(-1) ?? null, error, running: false });
}

function reportNames({ disk }: DaemonCommandWorld, home: string): string[] {
  const files = disk.list(joinPath(home, REPORTS)).filter((file) => file.endsWith(".json"));
  return files.map((file) => file.slice(0, -".json".length)).sort();
}

async function report(world: DaemonCommandWorld, flags: ReportFlags, name?: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const names = reportNames(world, home.value);
  const chosen = name === undefined ? names.at(-1) : names.find((other) => other === name);
  if (chosen === undefined) return noReport(name, names);
  const found = readJson(world.disk, joinPath(home.value, `${REPORTS}/${chosen}.json`));
  if (!isReport(found)) return refused("bad-report", `The report ${chosen} cannot be read.`, "holdfast log verify");
  const text = flags.json ? visibleLine(JSON.stringify(found)) : visible(reportText(world, found));
  await world.console.out.write(`${text}\n`);
  return ok(EXIT.ok);
}

function noReport(name: string | undefined, names: readonly string[]): Exit {
  if (name === undefined)
    return refused("unknown", "There has been no recovery on this home yet.", "`holdfast up` starts it.");
  const newest = names.at(-1);
  const hint = newest === undefined ? "There are none yet." : `The newest is ${newest}.`;
  return refused("unknown", `There is no report ${JSON.stringify(name)}.`, hint);
}

function isReport(value: unknown): value is Report {
  return typeof value === "object" && value !== null && "items" in value && Array.isArray(value.items);
}

/** In one clause. */
function whyOf({ cause, from, crash }: Report): string {
  if (cause === "machine restart") return "clean stop, then the machine was restarted";
  if (cause === "taken over" && from !== undefined) return `taken over from ${from}`;
  const how = crash ? howItEnded(crash) : undefined;
  return how === undefined ? cause : `${cause} (${how})`;
}

function reportText({ console }: DaemonCommandWorld, report: Report): string {
  const { at, cause, items, more = 0, tookMs } = report;
  const why = whyOf(report);
  const took = cause === "holder crash" ? "" : `live after ${tookMs} ms, `; // The daemon was live all the time.
  const { out, widthOf } = console;
  const head = foldedFor(out, widthOf, `${localTime(console, at)}: ${why}, ${took}${countsOf(items)} checked`);
  const rows = items.map(({ fate, what, name, reason, next }) => [
    fate,
    `${what} ${name}`,
    localTimes(console, reason),
    `→ ${next}`,
  ]);
  const lines = listText(console, rows, 2).trimEnd();
  const rest = more === 0 ? [] : [`${more} more are not in this report; none of them needs you more than these.`];
  return [head, ...(lines === "" ? [] : [lines]), ...rest].join("\n");
}

/** Counts by kind: "4 terminals, 1 tmux session". */
function countsOf(items: Report["items"]): string {
  const kinds = [...Map.groupBy(items, ({ what }) => what)];
  const many = (what: string) => (what === "process" ? "processes" : `${what}s`);
  return kinds.length === 0 ? "nothing" : kinds.map(([what, { length }]) => count(length, what, many(what))).join(", ");
}

async function crashes(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const { console, disk } = world;
  const history = readLastCrash(disk, home.value)?.history ?? [];
  const rows = history.map((crash) =>
    [localTime(console, crash.time), crash.name, String(crash.pid), howItEnded(crash) ?? ""].map(visibleLine),
  );
  if (flags.json === true) await printJson(console, history);
  else if (rows.length === 0) await say(console, "No crash is on record.");
  else await console.out.write(tableText(console, [["TIME", "PROGRAM", "PID", "HOW"], ...rows]));
  return ok(EXIT.ok);
}

async function retry(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const line = await dial(world, home.value);
  if (!line.ok) return line;
  const { daemon } = runningOn(world, home.value);
  if (line.value === undefined && daemon !== undefined) return { ok: false, error: hangs(daemon.pid) };
  if (line.value === undefined)
    return refused("not-live", "The daemon is not running.", "`holdfast up` starts it and recovers.");
  const retried = await line.value.call("recovery.retry", {});
  line.value.close();
  if (!retried.ok) return retried;
  const { stage } = retried.value;
  await world.console.out.write(`${flags.json ? JSON.stringify({ stage }) : stage}\n`);
  return ok(stage === "LIVE" ? EXIT.ok : EXIT.waiting);
}

export const recoveryStatusCommand = withDaemonWorld(status);
export const recoveryReportCommand = withDaemonWorld(report);
export const recoveryCrashesCommand = withDaemonWorld(crashes);
export const recoveryRetryCommand = withDaemonWorld(retry);
