// The reports of recoveries, newest last; the oldest are removed.
import { joinPath } from "../base/path.ts";
import type { Fate, ReportItem } from "../core/recovery.ts";
import { decodeLine } from "../wire/lines.ts";
import { whole } from "../wire/rpc/page.ts";
import type { Report } from "../wire/rpc/rpc.ts";
import type { Disk } from "../world/disk.ts";
import { REPORTS } from "./layout.ts";
import { readSmall, writeSmall } from "./small-file.ts";

/** Old reports are for reading, not for recovery. */
const REPORTS_KEPT = 50;

/** What a person has to look at, if not all fits (PG4 of wire/rpc/page.ts). */
const FIRST: readonly Fate[] = ["needs you", "could not"];

export function shortened(report: Report): Report {
  if (whole(report.items).more === undefined) return report;
  const isUrgent = ({ fate }: ReportItem) => FIRST.includes(fate);
  const items = [...report.items.filter(isUrgent), ...report.items.filter((item) => !isUrgent(item))];
  return { ...report, ...whole(items) };
}

/** Returns the report's name. */
export async function writeReport(disk: Disk, home: string, report: Report): Promise<string> {
  const name = report.at.replaceAll(/[:.]/g, "-");
  await writeSmall(disk, home, `${REPORTS}/${name}.json`, JSON.stringify(report));
  const directory = joinPath(home, REPORTS);
  const names = disk.list(directory).sort();
  for (const old of names.slice(0, Math.max(0, names.length - REPORTS_KEPT))) disk.unlink(joinPath(directory, old));
  return name;
}

/** Newest last. */
export function reportNames(disk: Disk, home: string): string[] {
  const files = disk.list(joinPath(home, REPORTS)).filter((file) => file.endsWith(".json"));
  return files.map((file) => file.slice(0, -".json".length)).sort();
}

/** The newest report, or the one with this name; null if there is none. */
export function readReport(disk: Disk, home: string, name: string | null): Report | null {
  const names = reportNames(disk, home);
  const found = name === null ? names.at(-1) : names.find((other) => other === name);
  const value = found === undefined ? undefined : decodeLine(readSmall(disk, home, `${REPORTS}/${found}.json`));
  return isReport(value) ? value : null;
}

function isReport(value: unknown): value is Report {
  return typeof value === "object" && value !== null && "items" in value && Array.isArray(value.items);
}
