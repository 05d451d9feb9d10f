// The workflow commands: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { RunState } from "../../core/workflow/run.ts";
import type { Context } from "../command-world.ts";
import {
  allHomes,
  choiceFlag,
  type DataFlags,
  described,
  flag,
  home,
  numberFlag,
  proposeFiles,
  text,
  textFlag,
} from "../flags.ts";
import { anyFlags } from "../fleet/any-flags.ts";
import { checkpoints } from "./checkpoint-routes.ts";
import { dlq } from "./dlq-routes.ts";
import type { ListFlags } from "./ls.ts";
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
      ...anyFlags,
      check: flag("Only check the file, and run nothing"),
      json: flag(`One JSON object ${ROW}, when the run has stopped; with --detach at once; with --any {id, n}`),
    },
    aliases: { d: "detach", p: "param" },
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: text,
          placeholder: "file",
          brief: "A workflow file (docs/WORKFLOWS.md)",
          proposeCompletions: proposeFiles,
        },
      ],
    },
  },
  docs: described(
    "Run a workflow file, and follow it",
    "Runs the steps of a workflow file here. Every step's end is on disk before the next starts: no crash loses",
    "finished work.",
    `${WATCHING} \`holdfast resume\` continues it.`,
    EXITS,
  ),
});

/** The list in core/ would be loaded with every command. */
const STATES = [
  "queued",
  "running",
  "waiting",
  "uncertain",
  "failed",
  "interrupted",
  "cancelled",
  "done",
  "done_with_failures",
] as const satisfies readonly RunState[];

const ls = buildCommand<ListFlags, [], Context>({
  loader: async () => (await import("./ls.ts")).workflowsCommand,
  parameters: {
    flags: {
      home,
      state: { ...choiceFlag(STATES, "Only runs in this state. May be repeated"), variadic: true },
      name: textFlag("name", "Only runs of the workflow with this name"),
      last: numberFlag("n", "Only the newest n of them; with --all, of each home"),
      all: allHomes,
      json: flag(`One JSON array of ${ROW}; with --all also {host, home, ageMs}`),
    },
    aliases: { n: "last" },
  },
  docs: { brief: "List the workflow runs: running, waiting, uncertain, failed, interrupted, cancelled and done" },
});

const show = buildCommand<DataFlags, [run: string], Context>({
  loader: async () => (await import("./show.ts")).workflowsShowCommand,
  parameters: {
    flags: { home, json: flag(`One JSON object ${ROW.slice(0, -1)}, records, attempts, retries, from}`) },
    positional: { kind: "tuple", parameters: [workflow] },
  },
  docs: { brief: "Show a run: its state, its steps, and what it needs; of several with this name the newest" },
});

const rm = buildCommand<DataFlags, string[], Context>({
  loader: async () => (await import("./rm.ts")).workflowsRmCommand,
  parameters: {
    flags: { home, json: flag("One JSON array of {id, name}: those that were forgotten") },
    positional: { kind: "array", minimum: 1, parameter: workflow },
  },
  docs: described(
    "Forget runs that are over",
    "What their steps have printed is removed as that of other ended runs ([retention] run_days). A worktree stays.",
  ),
});

const workflows = buildRouteMap<"ls" | "show" | "rm", Context>({
  routes: { ls, show, rm },
  defaultCommand: "ls",
  docs: { brief: "List the workflow runs; show or forget one: ls, show, rm" },
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
  docs: described(
    "Continue a run that failed, was interrupted or is uncertain [default = the only one]",
    "Finished steps are skipped, variables keep their values, and the step that failed or was interrupted starts",
    "again.",
    "A step that was running when the machine or its holder died is uncertain: it runs again only if you or the file",
    "allow",
    `it. A run that is already running is only followed. ${WATCHING}`,
    EXITS,
  ),
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
        proposeCompletions: proposeFiles,
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
          proposeCompletions: proposeFiles,
          optional: true,
          brief: "Where the older program kept its state [default = the home, $PRODIGY_HOME and ~/.prodigy]",
        },
      ],
    },
  },
  docs: described(
    "Take over runs of an older program, so that they can be resumed",
    "Reads the state of sessions (current_step, completed_steps), ID/checkpoints/*.checkpoint.json, mapreduce/jobs/",
    "and sessions/ID/checkpoint.json (docs/WORKFLOWS.md). The originals are not changed, and a run is migrated only",
    "once.",
    "Whatever cannot be migrated is reported with the reason, and the exit code is 1.",
  ),
});

export const workflowRoutes = { run, workflows, resume, cancel, checkpoints, dlq, migrate };
