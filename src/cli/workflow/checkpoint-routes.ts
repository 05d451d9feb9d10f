// The commands on checkpoints of runs: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, described, flag, home, wholeNumber } from "../flags.ts";
import type { RollbackFlags } from "./checkpoints-rollback.ts";
import { workflow } from "./words.ts";

const optionalRun = { kind: "tuple", parameters: [{ ...workflow, optional: true }] } as const;
const seq = {
  parse: wholeNumber,
  placeholder: "checkpoint",
  brief: "The number of a checkpoint, from `checkpoints ls`",
} as const;

const ls = buildCommand<DataFlags, [run?: string], Context>({
  loader: async () => (await import("./checkpoints-ls.ts")).checkpointsLsCommand,
  parameters: {
    flags: {
      home,
      json: flag("One JSON array of {run, name, path, file, bytes, seq, time, state, reason, step, valid, problem}"),
    },
    positional: optionalRun,
  },
  docs: {
    brief: "List the checkpoints of a run or workflow file; without one, the newest of every run",
  },
});

const show = buildCommand<DataFlags, [run: string, checkpoint?: number], Context>({
  loader: async () => (await import("./checkpoints-show.ts")).checkpointsShowCommand,
  parameters: {
    flags: { home, json: flag("One JSON object, the checkpoint as it is stored, with likely secrets hidden") },
    positional: { kind: "tuple", parameters: [workflow, { ...seq, optional: true }] },
  },
  docs: { brief: "Show a checkpoint (the newest by default), with likely secrets hidden" },
});

const verify = buildCommand<DataFlags, [run?: string], Context>({
  loader: async () => (await import("./checkpoints-verify.ts")).checkpointsVerifyCommand,
  parameters: {
    flags: { home, json: flag("One JSON array of {run, name, file, seq, verdict, reason, next}") },
    positional: optionalRun,
  },
  docs: {
    brief: "Check the hash, shape and log of every checkpoint of a run, or of all runs; exit 1 if one is bad",
  },
});

const save = buildCommand<DataFlags, [run: string], Context>({
  loader: async () => (await import("./checkpoints-save.ts")).checkpointsSaveCommand,
  parameters: {
    flags: { home, json: flag("One JSON object {run, name, file, seq, reason}") },
    positional: { kind: "tuple", parameters: [workflow] },
  },
  docs: { brief: "Save the checkpoint of a run now; the one before it stays in its history" },
});

const rollback = buildCommand<RollbackFlags, [run: string, checkpoint: number], Context>({
  loader: async () => (await import("./checkpoints-rollback.ts")).checkpointsRollbackCommand,
  parameters: {
    flags: {
      home,
      yes: flag("Do it; without this, only show what would be undone (exit 3)"),
      json: flag("One JSON object {id, name, state, done, steps, more, items}"),
    },
    aliases: { y: "yes" },
    positional: { kind: "tuple", parameters: [workflow, seq] },
  },
  docs: described(
    "Set a run back to an earlier checkpoint; `holdfast resume` continues from there",
    "Steps and items that ended later no longer count as done; variables and the workflow file are those of then.",
    "Their effects on the world are not undone. Nothing is removed: newer checkpoints and the log are kept.",
    "A run that is running or uncertain cannot be set back: interrupt it, or resolve what is uncertain, first.",
  ),
});

export const checkpoints = buildRouteMap({
  routes: { ls, show, verify, save, rollback },
  docs: { brief: "Checkpoints of runs: ls, show, verify, save, rollback" },
});
