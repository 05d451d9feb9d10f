// `holdfast migrate`: takes over the runs of an older program. The daemon does it, because only it writes the log.

import { shortId } from "../../base/ids.ts";
import { ok, refused } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import type { MigratedRun, MigrationReport } from "../../wire/rpc/workflow.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { count, say } from "../print.ts";
import { oldEnvironment, oldHomes } from "./old-homes.ts";

export type MigrateFlags = DataFlags & { readonly workflow?: readonly string[]; readonly dryRun?: boolean };

async function migrate(world: DaemonCommandWorld, flags: MigrateFlags, dir?: string): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const directories = dir === undefined ? oldHomes(world, home.value) : [world.console.absolute(dir)];
  const missing = directories.find((path) => world.disk.stat(path)?.kind !== "directory");
  if (missing !== undefined)
    return refused(
      "unknown",
      `There is no directory ${missing}.`,
      "Give the directory where the older program kept its state.",
    );
  const workflows = (flags.workflow ?? []).map((file) => world.console.absolute(file));
  const wish = { workflows, env: oldEnvironment(world), dryRun: flags.dryRun === true };
  // Migrating twice has the same effect as once, so a lost reply does not matter.
  const done = await onDaemon<MigrationReport>(world, home.value, async (client) => {
    const reports: MigrationReport[] = [];
    for (const directory of directories) {
      const report = await client.call("workflow.migrate", { ...wish, directory });
      if (!report.ok) return report;
      reports.push(report.value);
    }
    return ok(joined(home.value, reports));
  });
  if (!done.ok) return done;
  if (flags.json) await world.console.out.write(`${visibleLine(JSON.stringify(done.value))}\n`);
  else await print(world, done.value, directories);
  return ok(done.value.items.some(({ fate }) => fate === "could not") ? EXIT.failed : EXIT.ok);
}

/** One report of several directories: what counts is the runs. */
function joined(home: string, reports: readonly MigrationReport[]): MigrationReport {
  const [first] = reports;
  const more = reports.reduce((sum, report) => sum + (report.more ?? 0), 0);
  return {
    ...{ at: first?.at ?? "", directory: first?.directory ?? home, dryRun: first?.dryRun ?? false },
    migrated: reports.reduce((sum, { migrated }) => sum + migrated, 0),
    items: reports.flatMap(({ items }) => items),
    ...(more > 0 && { more }),
  };
}

const FATES: Readonly<Record<MigratedRun["fate"], string>> = {
  migrated: "migrated",
  would: "would be migrated",
  before: "migrated before",
  older: "skipped",
  over: "skipped",
  "could not": "COULD NOT be migrated",
};

async function print(
  { console }: DaemonCommandWorld,
  { items, more = 0, migrated, dryRun }: MigrationReport,
  directories: readonly string[],
): Promise<void> {
  for (const item of items) await console.out.write(visible(`${linesOf(item).join("\n")}\n`));
  if (more > 0) await say(console, `${count(more, "run")} more are not shown.`);
  if (items.length === 0) return say(console, `there is nothing of an older program in ${directories.join(" or ")}.`);
  const would = items.filter(({ fate }) => fate === "would").length;
  const words = dryRun ? `${count(would, "run")} would be migrated.` : `${count(migrated, "run")} migrated.`;
  await say(console, `${words} The originals are unchanged.`);
}

function linesOf({ old, name, fate, run, reason, notes, next, path }: MigratedRun): string[] {
  const now = run === null || fate === "would" ? "" : ` as ${shortId(run)}`;
  return [
    `${old}${name === null ? "" : ` (${name})`}: ${FATES[fate]}${now}: ${reason}`,
    `  ${path}`,
    ...notes.map((note) => `  note: ${note}`),
    ...(next === null ? [] : [`  → ${next}`]),
  ];
}

export const migrateCommand = withDaemonWorld(migrate);
