// `holdfast log …`: the names, flags and arguments of its commands.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, described, text, wholeNumber } from "../flags.ts";
import type { ShowFlags } from "./show.ts";
import type { TailFlags } from "./tail.ts";

/** `tail` keeps the last entries in memory until it has read them all; for more there is `show`. */
const MAX_LINES = 100_000;

function lineCount(input: string): number {
  const number = wholeNumber(input);
  if (number > MAX_LINES) throw new Error(`it must be at most ${MAX_LINES}; \`log show --from\` prints more`);
  return number;
}

const home = {
  kind: "parsed",
  parse: text,
  optional: true,
  placeholder: "dir",
  brief: "The home to read [default = HOLDFAST_HOME, or holdfast in the XDG state directory]",
} as const;

const session = {
  parse: text,
  optional: true,
  placeholder: "session",
  brief: "A session's name (agents/<id>), its id, or a prefix of its id [default = all sessions]",
} as const;

function jsonFlag(brief: string) {
  return { kind: "boolean", optional: true, withNegated: false, brief } as const;
}

const READ_ONLY = "Only reads: nothing is written, locked or repaired. Safe to use while a daemon is running.";

const verify = buildCommand<DataFlags, [session?: string], Context>({
  loader: async () => (await import("./verify.ts")).verifyCommand,
  parameters: {
    flags: { home, json: jsonFlag("One JSON object {home, whole, running, sessions, wal, quarantine, findings}") },
    positional: { kind: "tuple", parameters: [session] },
  },
  docs: described(
    "Check every line of the log, and list damage and quarantine",
    "Checks the write-ahead log and the sessions' logs.",
    READ_ONLY,
    "Exit code 0: whole (an unfinished write at the end is allowed: the next start removes it). 1: damaged.",
  ),
});

const show = buildCommand<ShowFlags, [session?: string], Context>({
  loader: async () => (await import("./show.ts")).showCommand,
  parameters: {
    flags: {
      home,
      json: jsonFlag("One JSON array of entries"),
      from: { kind: "parsed", parse: wholeNumber, optional: true, placeholder: "seq", brief: "Start at this seq" },
      limit: {
        kind: "parsed",
        parse: wholeNumber,
        optional: true,
        placeholder: "n",
        brief: "Show at most this many",
      },
    },
    positional: { kind: "tuple", parameters: [session] },
  },
  docs: described(
    "Print the events of a session, or of all sessions in one order",
    "Prints one event per line: seq, time, the session's id, event, data. On a terminal long lines are cut.",
    READ_ONLY,
  ),
});

const tail = buildCommand<TailFlags, [session?: string], Context>({
  loader: async () => (await import("./tail.ts")).tailCommand,
  parameters: {
    flags: {
      home,
      json: jsonFlag("One JSON array of entries; with --follow one JSON object per line"),
      lines: {
        kind: "parsed",
        parse: lineCount,
        default: "20",
        placeholder: "n",
        brief: "How many past events to show",
      },
      follow: {
        kind: "boolean",
        optional: true,
        withNegated: false,
        brief: "Keep printing what becomes durable, until Ctrl-C",
      },
    },
    aliases: { n: "lines", f: "follow" },
    positional: { kind: "tuple", parameters: [session] },
  },
  docs: described("Print the last events, and with -f new ones as they arrive", READ_ONLY),
});

export const logRoutes = buildRouteMap<"verify" | "show" | "tail", Context>({
  routes: { verify, show, tail },
  docs: { brief: "Read the log: verify, show, tail" },
});
