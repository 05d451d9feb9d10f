// The workflow commands: their names, flags and arguments.
import { buildCommand } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, flag, home, text, textFlag } from "../flags.ts";
import { checkpoints } from "./checkpoint-routes.ts";
import { dlq } from "./dlq-routes.ts";
import type { MigrateFlags } from "./migrate.ts";
import type { ResumeFlags } from "./resume.ts";
import type { RunFlags } from "./run.ts";
import { ROW, workflow } from "./words.ts";

const WATCHING = "Ctrl-C interrupts the run; Ctrl-\\ and a closed window only stop watching, and the run continues.";
const EXITS =
  "Exit code: the failed step's; 0 if the run is done, 3 if it waits for a person, 130 if it was interrupted.";

const param = (brief: string) =>
  ({
    kind: "parsed",
    parse: text,
    variadic: true,
    optional: true,
    placeholder: "name=value",
    brief,
  }) as const;

const run = buildCommand<RunFlags, [file: string], Context>({
  loader: async () => (await import("./run.ts")).runCommand,
  parameters: {
    flags: {
      home,
      param: param("A parameter, as JSON unless its type is text. May be repeated"),
      paramFile: textFlag("file", "A YAML or JSON file with parameters; --param takes precedence"),
      detach: flag("Return at once, and print the run's id"),
      worktree: flag(
        "Run in a separate git worktree on its own branch (holdfast/NAME-ID), which is kept after the run ends",
      ),
      check: flag("Only check the file, and run nothing"),
      json: flag(`One JSON object ${ROW}, when the run has stopped; with --detach at once`),
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
      "Runs the steps of a workflow file here. Every step's end is on disk before the next starts: no crash loses",
      "finished work.",
      `${WATCHING} \`holdfast resume\` continues it.`,
      EXITS,
    ].join("\n"),
  },
});

const workflows = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./ls.ts")).workflowsCommand,
  parameters: { flags: { home, json: flag(`One JSON array of ${ROW}`) } },
  docs: { brief: "List the workflow runs: running, waiting, uncertain, failed, interrupted, cancelled and done" },
});

const resume = buildCommand<ResumeFlags, [run?: string], Context>({
  loader: async () => (await import("./resume.ts")).resumeCommand,
  parameters: {
    flags: {
      home,
      param: param("A secret parameter, again: it was not stored. May be repeated"),
      rerun: flag("The uncertain step did not happen, or may happen twice: run it again"),
      done: flag("The uncertain step happened: continue with the next. Its captured output has no value"),
      failed: flag("The uncertain step failed"),
      force: flag("Resume even if it was cancelled, or failed in a way that a retry does not change"),
      acceptChanges: flag(
        "The file has changed: continue with the new version; finished steps that are unchanged stay finished",
      ),
      unchanged: flag("The file has changed: continue with the version from the start of the run"),
      detach: flag("Do not follow it"),
      json: flag(`One JSON object ${ROW}, when the run has stopped; with --detach at once`),
    },
    aliases: { d: "detach" },
    positional: { kind: "tuple", parameters: [{ ...workflow, optional: true }] },
  },
  docs: {
    brief: "Continue a run that failed, was interrupted or is uncertain [default = the only one]",
    fullDescription: [
      "Finished steps are skipped, variables keep their values, and the step that failed or was interrupted starts",
      "again.",
      "A step that was running when the machine or its holder died is uncertain: it runs again only if you or the file",
      "allow",
      `it. A run that is already running is only followed. ${WATCHING}`,
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
  docs: { brief: "Stop a run for good; its steps get SIGTERM, and SIGKILL after ten seconds" },
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
        brief: "The workflow file for records that name none, or whose file has moved. May be repeated",
      },
      dryRun: flag("Only show what would be done, and change nothing"),
      json: flag(
        [
          "One JSON object {at, directory, dryRun, migrated,",
          "items: [{layout, path, old, name, fate, run, state, reason, notes, next}]}",
        ].join(" "),
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
    brief: "Take over runs of an older program, so that they can be resumed",
    fullDescription: [
      "Reads the state of sessions (current_step, completed_steps), ID/checkpoints/*.checkpoint.json, mapreduce/jobs/",
      "and sessions/ID/checkpoint.json (docs/WORKFLOWS.md). The originals are not changed, and a run is migrated only",
      "once.",
      "Whatever cannot be migrated is reported with the reason, and the exit code is 1.",
    ].join("\n"),
  },
});

export const workflowRoutes = { run, workflows, resume, cancel, checkpoints, dlq, migrate };
