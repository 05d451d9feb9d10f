// The commands on Holdfast itself: what they are called and take.
import { buildCommand, buildRouteMap } from "@stricli/core";
import { countFlag, type DataFlags, flag, type HomeFlags, home, text } from "../flags.ts";
import type { Context } from "../outside.ts";
import type { DownFlags } from "./down.ts";
import type { LogsFlags } from "./logs.ts";
import type { ReportFlags } from "./recovery.ts";

const STATUS = "{version, home, watchdog, daemon, web, programs, recovery, safeMode, counts}";

const up = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./up.ts")).upCommand,
  parameters: { flags: { home, json: flag(`One JSON object ${STATUS}`) } },
  docs: {
    brief: "Start Holdfast on this home; returns when it is live",
    fullDescription:
      "Every command that needs Holdfast starts it, so this is only needed after `down`, or to wait for recovery.",
  },
});

const down = buildCommand<DownFlags, [], Context>({
  loader: async () => (await import("./down.ts")).downCommand,
  parameters: { flags: { home, kill: flag("End the programs in all terminals first") } },
  docs: { brief: "Stop Holdfast on this home; the programs in its terminals run on" },
});

const status = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./status.ts")).statusCommand,
  parameters: { flags: { home, json: flag(`One JSON object ${STATUS}`) } },
  docs: { brief: "Say what runs on this home, and how it is" },
});

const logs = buildCommand<LogsFlags, [], Context>({
  loader: async () => (await import("./logs.ts")).logsCommand,
  parameters: {
    flags: {
      home,
      lines: countFlag("50", "How many lines to begin with"),
      follow: flag("Go on with what comes, until Ctrl-C"),
      json: flag("One JSON array of lines; with --follow one JSON text a line"),
    },
    aliases: { n: "lines", f: "follow" },
  },
  docs: { brief: "Print what watchdog and daemon have said" },
});

const recovery = buildRouteMap<"status" | "report" | "retry", Context>({
  routes: {
    status: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./recovery.ts")).recoveryStatusCommand,
      parameters: { flags: { home, json: flag("One JSON object {stage, attempt, report}") } },
      docs: { brief: "Say how far recovery is" },
    }),
    report: buildCommand<ReportFlags, [name?: string], Context>({
      loader: async () => (await import("./recovery.ts")).recoveryReportCommand,
      parameters: {
        flags: { home, json: flag("One JSON object {at, cause, items, log, tookMs}") },
        positional: {
          kind: "tuple",
          parameters: [
            {
              parse: text,
              placeholder: "report",
              optional: true,
              brief: "A report's name; the newest where it is left out",
            },
          ],
        },
      },
      docs: { brief: "Print what became of everything at the last recovery" },
    }),
    retry: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./recovery.ts")).recoveryRetryCommand,
      parameters: { flags: { home, json: flag("One JSON object {stage}") } },
      docs: { brief: "Try the stage again at which recovery stopped" },
    }),
  },
  docs: { brief: "Look at recovery: status, report, retry" },
});

const safeMode = buildRouteMap<"status" | "exit", Context>({
  routes: {
    status: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./safe-mode.ts")).safeModeStatusCommand,
      parameters: { flags: { home, json: flag("One JSON object {active, reason, since, off}") } },
      docs: { brief: "Say whether safe mode is on, why, and what is off" },
    }),
    exit: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./safe-mode.ts")).safeModeExitCommand,
      parameters: { flags: { home, json: flag("One JSON object {active}") } },
      docs: { brief: "Leave safe mode: everything that was off is on again" },
    }),
  },
  docs: { brief: "Safe mode: status, exit" },
});

const config = buildRouteMap<"show" | "check", Context>({
  routes: {
    show: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./config.ts")).configShowCommand,
      parameters: { flags: { home, json: flag("One JSON object {path, found, config}") } },
      docs: { brief: "Print the configuration that holds, and where each setting comes from" },
    }),
    check: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./config.ts")).configCheckCommand,
      parameters: { flags: { home, json: flag("One JSON object {path, found, problems}") } },
      docs: { brief: "Check the configuration: every problem with its key and line" },
    }),
  },
  docs: { brief: "The configuration: show, check" },
});

const completions = buildCommand<HomeFlags, [shell: "bash" | "zsh" | "fish"], Context>({
  loader: async () => (await import("./completions.ts")).completionsCommand,
  parameters: {
    flags: { home },
    positional: {
      kind: "tuple",
      parameters: [
        { parse: shellNamed, placeholder: "shell", brief: "bash, zsh or fish", proposeCompletions: () => [...SHELLS] },
      ],
    },
  },
  docs: {
    brief: "Print what makes a shell complete commands, flags and names of terminals",
    fullDescription: [
      'bash: eval "$(holdfast completions bash)" in ~/.bashrc',
      'zsh:  eval "$(holdfast completions zsh)" in ~/.zshrc, after compinit',
      "fish: holdfast completions fish > ~/.config/fish/completions/holdfast.fish",
    ].join("\n"),
  },
});

const SHELLS = ["bash", "zsh", "fish"] as const;

function shellNamed(input: string): (typeof SHELLS)[number] {
  const shell = SHELLS.find((name) => name === input);
  if (shell === undefined) throw new Error("it must be bash, zsh or fish");
  return shell;
}

const complete = buildCommand<HomeFlags, string[], Context>({
  loader: async () => (await import("./complete.ts")).completeCommand,
  parameters: {
    flags: { home },
    positional: { kind: "array", parameter: { parse: text, placeholder: "word", brief: "The words so far" } },
  },
  docs: { brief: "For the shells: what may come next" },
});

export const systemRoutes = {
  up,
  down,
  status,
  logs,
  recovery,
  "safe-mode": safeMode,
  config,
  completions,
  __complete: complete,
};
