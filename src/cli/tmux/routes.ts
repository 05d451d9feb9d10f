// The commands on sessions of other multiplexers under our care: what they are called and take.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, flag, home, text, textFlag } from "../flags.ts";
import type { AdoptFlags } from "./tmux.ts";

const ROW = "{id, name, kind, state, reason, policy, socket, adoptedAt, savedAt, recreatedAt, notes, trouble}";
const session = { parse: text, placeholder: "session", brief: "Its name, its id, or the beginning of its id" } as const;
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
        "The name of tmux's socket, as in tmux -L [default = the server you are in, or else default]",
      ),
      socketPath: textFlag("path", "The path of tmux's socket, as in tmux -S"),
      all: flag("All sessions of the server"),
      policy: {
        kind: "parsed",
        parse: policy,
        optional: true,
        placeholder: "auto|ask|never",
        brief: "Whether they are made again by themselves when their server is gone [default = auto]",
      },
      json: flag(`One JSON array of ${ROW}`),
    },
    aliases: { L: "socket", S: "socketPath" },
    positional: {
      kind: "array",
      parameter: { parse: text, placeholder: "session", brief: "A session of tmux, by name; none: the only one" },
    },
  },
  docs: {
    brief: "Take tmux sessions under our care: holdfast adopt tmux [session …]",
    fullDescription: [
      "Windows, panes, layout, directories, programs and scrollback are saved while the sessions run on in tmux, and made again after a",
      "reboot or when tmux's server is killed: in place of each program its shell, with the old command typed and not run.",
      "tmux itself is left as it is. `holdfast adopt release` ends the care and leaves the session running.",
    ].join("\n"),
  },
});

const ls = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./ls.ts")).adoptLsCommand,
  parameters: { flags: { home, json: flag(`One JSON array of ${ROW}`) } },
  docs: { brief: "List the sessions under our care" },
});

const release = buildCommand<DataFlags, [session: string], Context>({
  loader: async () => (await import("./change.ts")).releaseCommand,
  parameters: { flags: { home, json: flag(`One JSON object ${ROW}`) }, positional: one },
  docs: { brief: "End our care of a session; it runs on" },
});

const recreate = buildCommand<DataFlags, [session: string], Context>({
  loader: async () => (await import("./change.ts")).recreateCommand,
  parameters: { flags: { home, json: flag(`One JSON object ${ROW}`) }, positional: one },
  docs: { brief: "Make a session again that was lost or closed, as it was saved last" },
});

export const adoptRoutes = {
  adopt: buildRouteMap({
    routes: { tmux, ls, release, recreate },
    docs: { brief: "Take sessions of tmux under our care" },
  }),
};
