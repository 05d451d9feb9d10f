// Finds the runs whose checkpoints a person means, by id, name or workflow file (UC-7).
import { ok, type Result, refused } from "../../base/result.ts";
import { sessionOf } from "../../core/workflow/run.ts";
import { type CheckpointFile, CheckpointStorage } from "../../home/checkpoint-storage.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { look } from "../look.ts";
import { pickRun, runsOf } from "./rows.ts";

export type MeantRuns = { readonly home: string; readonly runs: readonly ListedRun[] };

/** All runs without a key; with one, all runs with that name or file, or the one whose id starts with it. */
export async function meantRuns(world: DaemonCommandWorld, flags: DataFlags, key?: string): Promise<Result<MeantRuns>> {
  const listed = await allRuns(world, flags);
  if (!listed.ok || key === undefined) return listed;
  const { home, runs } = listed.value;
  const named = runsOf(runs, key, world.console.absolute);
  if (named.length > 0) return ok({ home, runs: named });
  const one = pickRun(runs, key, world.console);
  return one.ok ? ok({ home, runs: [one.value] }) : one;
}

async function allRuns(world: DaemonCommandWorld, flags: DataFlags): Promise<Result<MeantRuns>> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const listed = await look(world, { home: home.value, json: flags.json }, (reader) =>
    reader.call("workflow.list", {}),
  );
  if (!listed.ok) return listed;
  return ok({ home: home.value, runs: listed.value.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt)) });
}

/** The one run that is meant, with its files. */
export async function meantRun(
  world: DaemonCommandWorld,
  flags: DataFlags,
  key: string,
  newest: boolean,
): Promise<Result<MeantRun>> {
  const listed = await allRuns(world, flags);
  if (!listed.ok) return listed;
  const { home, runs } = listed.value;
  const run = pickRun(runs, key, { absolute: world.console.absolute, newest });
  return run.ok ? ok({ home, run: run.value, files: filesOf(world, home, run.value) }) : run;
}

export type MeantRun = {
  readonly home: string;
  readonly run: ListedRun;
  readonly files: readonly CheckpointFile[];
};

/** They are read from disk, beside the daemon; the log is not read. */
export function filesOf({ disk, clock }: DaemonCommandWorld, home: string, run: ListedRun): CheckpointFile[] {
  return new CheckpointStorage({ disk, clock, home }).files(sessionOf(run));
}

export function noCheckpoint(run: ListedRun, seq: number | undefined): Result<never> {
  const message =
    seq === undefined ? `${run.name} has no readable checkpoint.` : `${run.name} has no checkpoint ${seq}.`;
  return refused("unknown", message, "`holdfast checkpoints ls` lists them. The log still has everything.");
}
