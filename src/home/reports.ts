// The reports of recoveries, newest last; the oldest are removed.
import { joinPath } from "../base/path.ts";
import { decodeLine } from "../wire/lines.ts";
import type { Report } from "../wire/rpc/rpc.ts";
import type { Disk } from "../world/disk.ts";
import { REPORTS } from "./layout.ts";
import { readSmall, writeSmall } from "./small-file.ts";

/** Old reports are for reading, not for recovery. */
const REPORTS_KEPT = 50;

/** Returns the report's name. */
export async function writeReport(disk: Disk, home: string, report: Report): Promise<string> {
  const name = report.at.replaceAll(/[:.]/g, "-");
  await writeSmall(disk, home, `${REPORTS}/${name}.json`, JSON.stringify(report));
  const directory = joinPath(home, REPORTS);
  const names = disk.list(directory).sort();
  for (const old of names.slice(0, Math.max(0, names.length - REPORTS_KEPT))) disk.unlink(joinPath(directory, old));
  return name;
}

/** The newest report, or the one with this name; null if there is none. */
export function readReport(disk: Disk, home: string, name: string | null): Report | null {
  const directory = joinPath(home, REPORTS);
  const newest = disk
    .list(directory)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .at(-1);
  const file = name === null ? newest : disk.list(directory).find((other) => other === `${name}.json`);
  const value = file === undefined ? undefined : decodeLine(readSmall(disk, home, `${REPORTS}/${file}`));
  return isReport(value) ? value : null;
}

function isReport(value: unknown): value is Report {
  return typeof value === "object" && value !== null && "items" in value && Array.isArray(value.items);
}
