// The commands on workflows: what they are called and take.
import { buildCommand } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, flag, home, text, textFlag } from "../flags.ts";
import { checkpoints } from "./checkpoint-routes.ts";
import { dlq } from "./dlq-routes.ts";
import type { MigrateFlags } from "./migrate.ts";
import type { ResumeFlags } from "./resume.ts";
import type { RunFlags } from "./run.ts";
import { ROW, workflow } from "./words.ts";

const WATCHING = "Ctrl-C interrupts the run; Ctrl-\\ and a closed window only stop watching, and the run goes on.";
const EXITS =
  "The exit code is the failed step's, 0 where the run is done, 3 where it waits for a person, 130 where it was interrupted.";

const run = buildCommand<RunFlags, [file: string], Context>({
  loader: async () => (await import("./run.ts")).runCommand,
  parameters: {
    flags: {
      home,
      param: {
        kind: "parsed",
        parse: text,
        variadic: true,
        optional: true,
        placeholder: "name=value",
        brief: "A parameter; JSON where it is no text. May be given more than once",
      },
      paramFile: textFlag("file", "A YAML or JSON file with parameters; --param wins over it"),
      detach: flag("Return at once, and print the run's id"),
      worktree: flag(
        "In a git worktree of its own, on a branch of its own (holdfast/NAME-ID); it stays when the run has ended",
      ),
      check: flag("Only check the file; nothing is run, and nothing is started"),
      json: flag(`One JSON object ${ROW}, when the run has come to rest; with --detach at once`),
    },
    aliases: { d: "detach", p: "param" },
    positional: {
      kind: "tuple",
      parameters: [{ parse: text, placeholder: "file", brief: "A workflow file (docs/WORKFLOWS.md)" }],
    },
  },
  docs: {
    brief: "Run a workflow file, and follow it",
    fullDescription: [
      "Runs the steps of a workflow file here. Every step's end is on disk before the next begins: a crash costs no finished work.",
      `${WATCHING} \`holdfast resume\` goes on with it.`,
      EXITS,
    ].join("\n"),
  },
});

const workflows = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./ls.ts")).workflowsCommand,
  parameters: { flags: { home, json: flag(`One JSON array of ${ROW}`) } },
  docs: { brief: "List the runs of workflows: running, waiting, uncertain, failed, interrupted, cancelled and done" },
});

const resume = buildCommand<ResumeFlags, [run?: string], Context>({
  loader: async () => (await import("./resume.ts")).resumeCommand,
  parameters: {
    flags: {
      home,
      rerun: flag("The uncertain step did not happen, or may happen twice: run it again"),
      done: flag("The uncertain step happened: go on with the next. What it would have captured has no value"),
      failed: flag("The uncertain step is a failure"),
      force: flag("Also where it was cancelled, or failed in a way that a retry does not change"),
      acceptChanges: flag(
        "The file has changed: go on with what it says now; finished steps that are the same stay finished",
      ),
      unchanged: flag("The file has changed: go on with what it said when the run began"),
      detach: flag("Do not follow it"),
      json: flag(`One JSON object ${ROW}, when the run has come to rest; with --detach at once`),
    },
    aliases: { d: "detach" },
    positional: { kind: "tuple", parameters: [{ ...workflow, optional: true }] },
  },
  docs: {
    brief: "Go on with a run that failed, was interrupted or is uncertain; without a name, the only one there is",
    fullDescription: [
      "Finished steps are passed over, variables are as they were, and the step that failed or was interrupted begins anew.",
      "A step that was running when the machine or its holder died is uncertain: it is run again only where you say so, or the file does.",
      `A run that is running is only followed. ${WATCHING}`,
      EXITS,
    ].join("\n"),
  },
});

const cancel = buildCommand<DataFlags, [run: string], Context>({
  loader: async () => (await import("./cancel.ts")).cancelCommand,
  parameters: {
    flags: { home, json: flag(`One JSON object ${ROW}`) },
    positional: { kind: "tuple", parameters: [workflow] },
  },
  docs: { brief: "Stop a run for good; its steps are asked to end (SIGTERM), and made to after ten seconds" },
});

const migrate = buildCommand<MigrateFlags, [dir?: string], Context>({
  loader: async () => (await import("./migrate.ts")).migrateCommand,
  parameters: {
    flags: {
      home,
      workflow: {
        kind: "parsed",
        parse: text,
        variadic: true,
        optional: true,
        placeholder: "file",
        brief: "The workflow file of records that name none, or whose file has moved. May be given more than once",
      },
      dryRun: flag("Only say what would become of each; nothing is changed"),
      json: flag(
        "One JSON object {at, directory, dryRun, migrated, items: [{layout, path, old, name, fate, run, state, reason, notes, next}]}",
      ),
    },
    aliases: { n: "dryRun" },
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: text,
          placeholder: "dir",
          optional: true,
          brief: "Where the older program kept its state [default = the home]",
        },
      ],
    },
  },
  docs: {
    brief: "Take over runs that an older program began, so that they can be resumed",
    fullDescription: [
      "Knows the state of sessions (current_step, completed_steps), ID/checkpoints/*.checkpoint.json, mapreduce/jobs/ and sessions/ID/checkpoint.json (docs/WORKFLOWS.md).",
      "Originals are only read. A run that was migrated before is not migrated again. What cannot be taken over is said, with the reason.",
      "The exit code is 1 where something could not be migrated.",
    ].join("\n"),
  },
});

export const workflowRoutes = { run, workflows, resume, cancel, checkpoints, dlq, migrate };
