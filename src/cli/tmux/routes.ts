// The commands on adopted tmux sessions: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { choiceFlag, type DataFlags, described, flag, home, text, textFlag } from "../flags.ts";
import type { AdoptFlags } from "./tmux.ts";

const ROW = "{id, name, kind, state, reason, policy, socket, adoptedAt, savedAt, recreatedAt, notes, trouble}";
const session = { parse: text, placeholder: "session", brief: "Its name, its id, or a prefix of its id" } as const;
const one = { kind: "tuple", parameters: [session] } as const;

const tmux = buildCommand<AdoptFlags, string[], Context>({
  loader: async () => (await import("./tmux.ts")).adoptTmuxCommand,
  parameters: {
    flags: {
      home,
      socket: textFlag(
        "name",
        "The name of tmux's socket, as in tmux -L [default = the server you are in, or default]",
      ),
      socketPath: textFlag("path", "The path of tmux's socket, as in tmux -S"),
      all: flag("All sessions of the server"),
      policy: choiceFlag(
        ["auto", "ask", "never"] as const,
        "Whether to recreate them automatically when their server is gone [default = auto]",
      ),
      json: flag(`One JSON array of ${ROW}`),
    },
    aliases: { L: "socket", S: "socketPath" },
    positional: {
      kind: "array",
      parameter: { parse: text, placeholder: "session", brief: "The name of a tmux session [default = the only one]" },
    },
  },
  docs: described(
    "Adopt tmux sessions",
    "Saves windows, panes, layout, directories, programs and scrollback while the sessions keep running in tmux, and",
    "recreates them after a reboot or when tmux's server is killed: each program is replaced by its shell, with the",
    "old command typed but not run. tmux itself is not changed. `holdfast adopt release` stops managing a session, and",
    "leaves it running.",
  ),
});

const ls = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./ls.ts")).adoptLsCommand,
  parameters: { flags: { home, json: flag(`One JSON array of ${ROW}`) } },
  docs: { brief: "List the managed sessions" },
});

const release = buildCommand<DataFlags, [session: string], Context>({
  loader: async () => (await import("./change.ts")).releaseCommand,
  parameters: { flags: { home, json: flag(`One JSON object ${ROW}`) }, positional: one },
  docs: { brief: "Stop managing a session; it keeps running" },
});

const recreate = buildCommand<DataFlags, [session: string], Context>({
  loader: async () => (await import("./change.ts")).recreateCommand,
  parameters: { flags: { home, json: flag(`One JSON object ${ROW}`) }, positional: one },
  docs: { brief: "Recreate a session that was lost or closed, as it was last saved" },
});

export const adoptRoutes = {
  adopt: buildRouteMap({
    routes: { tmux, ls, release, recreate },
    docs: { brief: "Adopt tmux sessions: tmux, ls, release, recreate" },
  }),
};
