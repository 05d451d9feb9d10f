// The commands on Holdfast itself: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import type { DoctorFlags } from "../doctor/doctor.ts";
import { type DataFlags, described, flag, type HomeFlags, home, numberFlag, text, textFlag } from "../flags.ts";
import type { InstallFlags } from "../service/install.ts";
import type { ReadyFlags } from "../service/ready.ts";
import { workflow } from "../workflow/words.ts";
import type { DownFlags } from "./down.ts";
import type { GcFlags } from "./gc.ts";
import type { LogsFlags } from "./logs.ts";
import type { UpFlags } from "./up.ts";

const STATUS = [
  "{version, home, watchdog, daemon, web, programs, recovery, safeMode, fleet, disk, counts, troubles, attempts?, attention?,",
  "config?, pending?}",
].join(" ");

const up = buildCommand<UpFlags, [], Context>({
  loader: async () => (await import("./up.ts")).upCommand,
  parameters: {
    flags: {
      home,
      asCopy: flag("This home is a copy of another one: give it its own identity, tokens and keys"),
      replaceOriginal: flag("This home was restored from a backup, and the original is gone: keep its identity"),
      json: flag(`One JSON object ${STATUS}`),
    },
  },
  docs: described(
    "Start Holdfast on this home; returns when it is live",
    "Commands that need Holdfast start it, so `up` is only needed after `down`, or to wait for recovery.",
  ),
});

const down = buildCommand<DownFlags, [], Context>({
  loader: async () => (await import("./down.ts")).downCommand,
  parameters: {
    flags: {
      home,
      kill: flag("End the programs of terminals, agents and workflow steps first"),
      json: flag("One JSON object {home, state, killed}"),
    },
  },
  docs: described(
    "Stop Holdfast on this home; the programs in its terminals keep running",
    "It stays down, also after a reboot, until `up` or a command that changes something starts it again. Commands that",
    "only look start nothing: they read the disk, and say so.",
  ),
});

const status = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./status.ts")).statusCommand,
  parameters: { flags: { home, json: flag(`One JSON object ${STATUS}`) } },
  docs: described(
    "Show what is running on this home, and its state",
    "Exit code 0: nothing is wrong, though something may wait for you. 1: something is wrong that Holdfast does not",
    "repair by itself, such as a disk that refuses writes, a recovery that stopped, or safe mode.",
  ),
});

const logs = buildCommand<LogsFlags, [run?: string], Context>({
  loader: async () => (await import("./logs.ts")).logsCommand,
  parameters: {
    flags: {
      home,
      lines: numberFlag("n", "How many past lines to show [default = 50]"),
      follow: flag("Keep printing new output until Ctrl-C; of a run also until it stops"),
      step: textFlag("step", "Only this step of the run: all attempts, stdout to stdout and stderr to stderr"),
      attempt: numberFlag("n", "Of a run: only the attempt with this number"),
      item: numberFlag("n", "Of a run: only the attempts at this item of its map"),
      json: flag(
        [
          "One JSON array of lines; with --follow one JSON string per line; of a run one JSON array of",
          "{attempt, number, step, item, try, startedAt, code, signal, error, at, output, stderr}",
        ].join(" "),
      ),
    },
    aliases: { n: "lines", f: "follow" },
    positional: { kind: "tuple", parameters: [{ ...workflow, optional: true }] },
  },
  docs: { brief: "Print the log of watchdog and daemon, or what the steps of a workflow run have printed" },
});

const config = buildRouteMap<"show" | "check", Context>({
  routes: {
    show: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./config.ts")).configShowCommand,
      parameters: { flags: { home, json: flag("One JSON object {path, found, config}") } },
      docs: { brief: "Print the effective configuration, and where each setting comes from" },
    }),
    check: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./config.ts")).configCheckCommand,
      parameters: {
        flags: {
          home,
          json: flag("One JSON object {path, found, problems, inUse}; inUse is null if no daemon answers"),
        },
      },
      docs: { brief: "Check the configuration: every problem with its key and line" },
    }),
  },
  docs: { brief: "The configuration: show, check" },
});

const reload = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./reload.ts")).reloadCommand,
  parameters: {
    flags: { home, json: flag("One JSON object {path, applied, restart}: the keys of what has changed") },
  },
  docs: described(
    "Have the running daemon read the configuration again",
    "Says which changed settings count now, and which from the next start on (docs/CONFIG.md has both). A file with a",
    "mistake is refused with line and column, and nothing changes. SIGHUP to the daemon does the same; `holdfast logs`",
    "has the outcome then. Until a reload, `status`, `doctor` and `config check` say that changes are pending.",
  ),
});

const doctor = buildCommand<DoctorFlags, [], Context>({
  loader: async () => (await import("../doctor/doctor.ts")).doctorCommand,
  parameters: {
    flags: {
      home,
      deep: flag("Check every checksum, which reads all data"),
      fix: flag("Repair what can be repaired safely, and report what was done and what is left"),
      json: flag("One JSON object {checks: [{name, status, what, why, next}], fixed: [...]}"),
    },
  },
  docs: described(
    "Check everything: storage, locks, sockets, holders, disk space, permissions, service, agents",
    "Checks everything Holdfast needs, and reports for each check whether it is fine, why not, and what to do next.",
    "It works while the daemon is down, starts nothing, and changes nothing without --fix.",
    "--fix repairs permissions and missing directories, and removes stale sockets and leftover temporary files.",
    "Exit code 0: no problem (there may be warnings). 1: a problem.",
  ),
});

const service = buildRouteMap<"install" | "remove" | "status", Context>({
  routes: {
    install: buildCommand<InstallFlags, [], Context>({
      loader: async () => (await import("../service/install.ts")).installCommand,
      parameters: {
        flags: {
          home,
          print: flag("Only print the unit (on macOS the launchd agent) and change nothing"),
          json: flag("One JSON object {installed, unit, home, steps}"),
        },
      },
      docs: described(
        "Start Holdfast at boot, and let systemd restart its watchdog",
        "Writes ~/.config/systemd/user/holdfast.service for this home, enables and starts it, and turns on",
        "lingering, so that it starts at boot and outlives the login. It gets PATH, SHELL, language, XDG directories",
        "and HOLDFAST_CONFIG of this shell. Everything that is running keeps running. Install again after an update",
        "that moved Holdfast, or a new PATH.",
      ),
    }),
    remove: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("../service/remove.ts")).removeCommand,
      parameters: { flags: { home, json: flag("One JSON object {installed, unit, home, steps}") } },
      docs: { brief: "Uninstall the service; Holdfast and the programs in its terminals keep running" },
    }),
    status: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("../service/status.ts")).serviceStatusCommand,
      parameters: {
        flags: {
          home,
          json: flag(
            [
              "One JSON object {manager, unreachable, unit, installed, current, enabled, active, state, pid,",
              "linger, home}",
            ].join(" "),
          ),
        },
      },
      docs: { brief: "Show whether the service is installed, enabled and active, and outlives the login" },
    }),
  },
  docs: { brief: "Holdfast as a system service: install, remove, status" },
});

const ready = buildCommand<ReadyFlags, [], Context>({
  loader: async () => (await import("../service/ready.ts")).readyCommand,
  parameters: { flags: { home, unit: textFlag("path", "The unit that asks, if it is not in the home") } },
  docs: { brief: "For service managers: whether to start the watchdog" },
});

const gc = buildCommand<GcFlags, [], Context>({
  loader: async () => (await import("./gc.ts")).gcCommand,
  parameters: {
    flags: {
      home,
      dryRun: flag("Only show what would be removed"),
      json: flag("One JSON object {dryRun, bytes, items, failed, kept}"),
    },
  },
  docs: described(
    "Remove what is no longer needed, following [retention] in the configuration",
    "Removes the output of removed and long ended terminals and of ended runs, agents that were terminated long ago,",
    "old reports and old quarantine. Holdfast does the same once a day. Nothing that is running or can continue is",
    "removed, and no clone of a sandboxed agent with commits that your repository does not have: it says how to",
    "fetch or drop them.",
  ),
});

const usage = buildRouteMap<"agents" | "disk", Context>({
  routes: {
    agents: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("../agent/usage.ts")).usageAgentsCommand,
      parameters: {
        flags: {
          home,
          json: flag("One JSON object {agents: [{id, name, provider, model, turns, usage}], total}"),
        },
      },
      docs: described(
        "Show the tokens that agents have used, and what they cost, as far as their providers say it",
        "Of the agents that are in the tree, and their turns that have ended.",
      ),
    }),
    disk: buildCommand<DataFlags, [], Context>({
      loader: async () => (await import("./usage.ts")).usageDiskCommand,
      parameters: {
        flags: {
          home,
          json: flag(
            "One JSON object {home, bytes, kinds: [{kind, files, bytes}], gc, free}; gc is null if no daemon answers",
          ),
        },
      },
      docs: described(
        "Show what takes room in the home, by kind, and what gc would free now",
        "Works while Holdfast is down, too, but then does not know what gc would free. It starts nothing.",
      ),
    }),
  },
  docs: { brief: "What is used: disk, tokens of agents" },
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
  docs: described(
    "Print a script that makes a shell complete commands, flags and names of terminals",
    'bash: eval "$(holdfast completions bash)" in ~/.bashrc',
    'zsh:  eval "$(holdfast completions zsh)" in ~/.zshrc, after compinit',
    "fish: holdfast completions fish > ~/.config/fish/completions/holdfast.fish",
  ),
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
  docs: { brief: "For shells: possible completions" },
});

export const systemRoutes = {
  up,
  down,
  status,
  doctor,
  service,
  logs,
  config,
  reload,
  gc,
  usage,
  completions,
  __complete: complete,
  __ready: ready,
};
