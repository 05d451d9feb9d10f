// Finds the runs whose checkpoints a person means, by id, name or workflow file (UC-7).
import { ok, type Result, refused } from "../../base/result.ts";
import { sessionOf } from "../../core/workflow/run.ts";
import { type CheckpointFile, CheckpointStorage } from "../../home/checkpoint-storage.ts";
import { allRows } from "../../wire/rpc/page.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import type { Reader } from "../disk-reader.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { look } from "../look.ts";
import { findRun } from "./rows.ts";

export type MeantRuns = { readonly home: string; readonly runs: readonly ListedRun[] };

/** All runs without a key; with one, all runs with that name or file, or the one whose id starts with it. */
export async function meantRuns(world: DaemonCommandWorld, flags: DataFlags, key?: string): Promise<Result<MeantRuns>> {
  return onHome(world, flags, async (reader, home) => {
    const runs = await runsFor(world, reader, key);
    return runs.ok ? ok({ home, runs: runs.value }) : runs;
  });
}

async function runsFor(world: DaemonCommandWorld, reader: Reader, key: string | undefined) {
  if (key === undefined) return allRows(reader, "workflow.list", {});
  for (const filter of [{ name: key }, { path: world.console.absolute(key) }]) {
    const named = await allRows(reader, "workflow.list", filter);
    if (!named.ok || named.value.length > 0) return named;
  }
  const one = await findRun(world, reader, key);
  return one.ok ? ok([one.value]) : one;
}

async function onHome<T>(
  world: DaemonCommandWorld,
  flags: DataFlags,
  act: (reader: Reader, home: string) => Promise<Result<T>>,
): Promise<Result<T>> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  return look(world, { home: home.value, json: flags.json }, (reader) => act(reader, home.value));
}

/** The one run that is meant, with its files. */
export async function meantRun(
  world: DaemonCommandWorld,
  flags: DataFlags,
  key: string,
  newest: boolean,
): Promise<Result<MeantRun>> {
  return onHome(world, flags, async (reader, home) => {
    const run = await findRun(world, reader, key, { newest });
    return run.ok ? ok({ home, run: run.value, files: filesOf(world, home, run.value) }) : run;
  });
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
