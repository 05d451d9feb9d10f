// The commands on adopted tmux sessions: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, flag, home, text, textFlag } from "../flags.ts";
import type { AdoptFlags } from "./tmux.ts";

const ROW = "{id, name, kind, state, reason, policy, socket, adoptedAt, savedAt, recreatedAt, notes, trouble}";
const session = { parse: text, placeholder: "session", brief: "Its name, its id, or a prefix of its id" } as const;
const one = { kind: "tuple", parameters: [session] } as const;

function policy(input: string): "auto" | "ask" | "never" {
  if (input === "auto" || input === "ask" || input === "never") return input;
  throw new Error("it must be auto, ask or never");
}

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
      policy: {
        kind: "parsed",
        parse: policy,
        optional: true,
        placeholder: "auto|ask|never",
        brief: "Whether to recreate them automatically when their server is gone [default = auto]",
      },
      json: flag(`One JSON array of ${ROW}`),
    },
    aliases: { L: "socket", S: "socketPath" },
    positional: {
      kind: "array",
      parameter: { parse: text, placeholder: "session", brief: "The name of a tmux session [default = the only one]" },
    },
  },
  docs: {
    brief: "Adopt tmux sessions: holdfast adopt tmux [session …]",
    fullDescription: [
      "Saves windows, panes, layout, directories, programs and scrollback while the sessions keep running in tmux, and",
      "recreates them after a reboot or when tmux's server is killed: each program is replaced by its shell, with the",
      "old command typed but not run. tmux itself is not changed. `holdfast adopt release` ends this and leaves the",
      "session running.",
    ].join("\n"),
  },
});

const ls = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./ls.ts")).adoptLsCommand,
  parameters: { flags: { home, json: flag(`One JSON array of ${ROW}`) } },
  docs: { brief: "List the adopted sessions" },
});

const release = buildCommand<DataFlags, [session: string], Context>({
  loader: async () => (await import("./change.ts")).releaseCommand,
  parameters: { flags: { home, json: flag(`One JSON object ${ROW}`) }, positional: one },
  docs: { brief: "Stop protecting a session; it keeps running" },
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
