// `holdfast recovery` and `holdfast safe-mode`: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, described, flag, home, terminal, text } from "../flags.ts";
import type { ReportFlags } from "./recovery.ts";

const restoredOnes = {
  kind: "array",
  parameter: { ...terminal, brief: "Which terminals [default = all that were restored and not accepted yet]" },
} as const;
const ENDED = "One JSON array of {id, name, state}";

const recovery = buildRouteMap<"status" | "report" | "crashes" | "retry" | "skip" | "accept" | "rollback", Context>({
  routes: {
    status: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./recovery.ts")).recoveryStatusCommand,
      parameters: {
        flags: {
          home,
          json: flag("One JSON object {stage, attempt, report, error, running, progress?, reading?, takenFrom?}"),
        },
      },
      docs: { brief: "Show how far recovery is" },
    }),
    report: buildCommand<ReportFlags, [name?: string], Context>({
      loader: async () => (await import("./recovery.ts")).recoveryReportCommand,
      parameters: {
        flags: { home, json: flag("One JSON object {at, cause, crash, items, log, tookMs}") },
        positional: {
          kind: "tuple",
          parameters: [
            {
              parse: text,
              placeholder: "report",
              optional: true,
              brief: "A report's name [default = the newest]",
            },
          ],
        },
      },
      docs: { brief: "Print what happened to everything in the last recovery" },
    }),
    crashes: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./recovery.ts")).recoveryCrashesCommand,
      parameters: {
        flags: { home, json: flag("One JSON array of {name, pid, exitCode, signal, reason, time}, newest last") },
      },
      docs: described(
        "List the crashes of Holdfast's own programs, newest last",
        "The watchdog records them: those of the daemon, the page's host and the programs that it watches for you.",
      ),
    }),
    retry: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./recovery.ts")).recoveryRetryCommand,
      parameters: { flags: { home, json: flag("One JSON object {stage}") } },
      docs: { brief: "Retry the stage at which recovery stopped" },
    }),
    skip: buildCommand<DataFlags, [session?: string], Context>({
      loader: async () => (await import("./skip.ts")).recoverySkipCommand,
      parameters: {
        flags: { home, json: flag("One JSON array of {what, id, name, reason, bytes, skipped}") },
        positional: {
          kind: "tuple",
          parameters: [
            {
              parse: text,
              placeholder: "session",
              optional: true,
              brief: "The name or id of what was set aside [default = list what can be skipped]",
            },
          ],
        },
      },
      docs: described(
        "Skip the event, or the line of output, for which something was set aside",
        "If an event of a log or a line that a program printed makes Holdfast fail, its terminal, agent or run is set",
        "aside with the reason. An update may be able to read it. Otherwise skip it: nothing is deleted, the rest is",
        "read without it, and at the next start (holdfast down && holdfast up) the session continues.",
        "Without a name, lists what can be skipped.",
      ),
    }),
    accept: buildCommand<DataFlags, string[], Context>({
      loader: async () => (await import("./restorations.ts")).acceptCommand,
      parameters: { flags: { home, json: flag(ENDED) }, positional: restoredOnes },
      docs: { brief: "Accept restored terminals as they are; attaching to one does that too" },
    }),
    rollback: buildCommand<DataFlags, string[], Context>({
      loader: async () => (await import("./restorations.ts")).rollbackCommand,
      parameters: { flags: { home, json: flag(ENDED) }, positional: restoredOnes },
      docs: described(
        "Undo restorations: the terminals are as they were found, and can be restored another way",
        "Ends what a restoration started. The terminal keeps its tape and recipe: holdfast restore NAME --as …",
      ),
    }),
  },
  docs: { brief: "Recovery: status, report, retry, skip, accept, rollback" },
});

const safeMode = buildRouteMap<"status" | "exit", Context>({
  routes: {
    status: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./safe-mode.ts")).safeModeStatusCommand,
      parameters: { flags: { home, json: flag("One JSON object {active, reason, since, off}") } },
      docs: { brief: "Show whether safe mode is on, why, and what is off" },
    }),
    exit: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./safe-mode.ts")).safeModeExitCommand,
      parameters: { flags: { home, json: flag("One JSON object {active}") } },
      docs: { brief: "Leave safe mode, and turn everything on again" },
    }),
  },
  docs: { brief: "Safe mode: status, exit" },
});

export const recoveryRoutes = { recovery, "safe-mode": safeMode };
