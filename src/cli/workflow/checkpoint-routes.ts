// The commands on checkpoints of runs: what they are called and take.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, flag, home, wholeNumber } from "../flags.ts";
import type { RollbackFlags } from "./checkpoints-rollback.ts";
import { workflow } from "./words.ts";

const optionalRun = { kind: "tuple", parameters: [{ ...workflow, optional: true }] } as const;
const seq = {
  parse: wholeNumber,
  placeholder: "checkpoint",
  brief: "The number of a checkpoint, as `checkpoints ls` says it",
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
    brief: "List the checkpoints of a run, or of all runs of a workflow file; without one, the newest of every run",
  },
});

const show = buildCommand<DataFlags, [run: string, checkpoint?: number], Context>({
  loader: async () => (await import("./checkpoints-show.ts")).checkpointsShowCommand,
  parameters: {
    flags: { home, json: flag("One JSON object, the checkpoint as it is stored; what looks like a secret is hidden") },
    positional: { kind: "tuple", parameters: [workflow, { ...seq, optional: true }] },
  },
  docs: { brief: "Show a checkpoint, the newest where none is named; what looks like a secret is hidden" },
});

const verify = buildCommand<DataFlags, [run?: string], Context>({
  loader: async () => (await import("./checkpoints-verify.ts")).checkpointsVerifyCommand,
  parameters: {
    flags: { home, json: flag("One JSON array of {run, name, file, seq, verdict, reason, next}") },
    positional: optionalRun,
  },
  docs: {
    brief:
      "Check every checkpoint of a run, or of all: its hash, its shape, and whether the log says the same; exit 1 where one is bad",
  },
});

const rollback = buildCommand<RollbackFlags, [run: string, checkpoint: number], Context>({
  loader: async () => (await import("./checkpoints-rollback.ts")).checkpointsRollbackCommand,
  parameters: {
    flags: {
      home,
      yes: flag("Do it; without this, only what would be undone is shown (exit 3)"),
      json: flag("One JSON object {id, name, state, done, steps, more, items}"),
    },
    aliases: { y: "yes" },
    positional: { kind: "tuple", parameters: [workflow, seq] },
  },
  docs: {
    brief: "Set a run back to an earlier checkpoint; `holdfast resume` goes on from there",
    fullDescription: [
      "Steps and items that ended later count as not done any more, and their variables are as they were; the file counts as it was then.",
      "What they did in the world stays done. Nothing is removed: newer checkpoints and the log stay as they are.",
      "A run that is running, or of which something is uncertain, is not set back: interrupt it, or say what became of it, first.",
    ].join("\n"),
  },
});

export const checkpoints = buildRouteMap({
  routes: { ls, show, verify, rollback },
  docs: { brief: "The checkpoints of runs: list, show and check them, and set a run back to one" },
});
