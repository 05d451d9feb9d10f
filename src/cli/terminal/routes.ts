// The terminal commands: their names, flags and arguments.

import { buildCommand } from "@stricli/core";
import type { RestorePolicy } from "../../core/terminal/restoration.ts";
import type { Context } from "../command-world.ts";
import {
  choiceFlag,
  countFlag,
  type DataFlags,
  flag,
  type HomeFlags,
  home,
  newName,
  terminal,
  text,
  textFlag,
} from "../flags.ts";
import type { AttachFlags } from "./attach.ts";
import type { HistoryFlags } from "./history.ts";
import type { KillFlags } from "./kill.ts";
import type { NewFlags } from "./new.ts";
import type { RestoreFlags } from "./restore.ts";
import type { RmFlags } from "./rm.ts";
import type { SendFlags } from "./send.ts";
import type { TailFlags } from "./tail.ts";

/** The list in core/ would be loaded with every command. */
const POLICIES = ["auto", "ask", "never"] as const satisfies readonly RestorePolicy[];
const WAYS = ["plan", "shell", "recipe"] as const;
const one = { kind: "tuple", parameters: [terminal] } as const;
const ROW = "{id, name, lane, state, pid, command, cwd, createdAt, clients, exitCode, signal}";
const DETACH = "Ctrl-\\ (terminal.detach_key) leaves it running.";

const lane = textFlag("lane", "The lane it belongs to: terminals that share a purpose [default = main]");
const cwd = textFlag("dir", "Where its program runs [default = here]");

const open = buildCommand<NewFlags, [name?: string], Context>({
  loader: async () => (await import("./new.ts")).newCommand,
  parameters: {
    flags: {
      home,
      detach: flag("Do not attach to it"),
      lane,
      cwd,
      restore: choiceFlag(POLICIES, "After a crash of the machine: auto, ask first, or never [default = auto]"),
      json: flag(`Do not attach; one JSON object ${ROW}`),
    },
    aliases: { d: "detach" },
    positional: { kind: "tuple", parameters: [{ ...newName, optional: true }] },
  },
  docs: {
    brief: "Open a terminal: holdfast new [name] [-- command …]",
    customUsage: ["[--home dir] [--detach] [--lane lane] [--cwd dir] [--json] [<name>] [-- <command> …]"],
    fullDescription: [
      "Opens a terminal and attaches to it; with -d, or if standard input is not a terminal, it stays detached and its",
      "name is printed. Without a command it runs your shell. It returns when the terminal is on disk and its program",
      "has started.",
      `${DETACH} If the program ends while you are attached, the exit code is the program's.`,
    ].join("\n"),
  },
});

const attach = buildCommand<AttachFlags, [terminal: string], Context>({
  loader: async () => (await import("./attach.ts")).attachCommand,
  parameters: {
    flags: {
      home,
      create: flag("Open it if no terminal has this name: holdfast attach -c name [-- command …]"),
      readOnly: flag("Only watch: nothing is typed, and the window's size does not count"),
      lane,
      cwd,
    },
    aliases: { c: "create", r: "readOnly" },
    positional: one,
  },
  docs: {
    brief: "Attach to a terminal",
    customUsage: [
      "[--home dir] [--read-only] <terminal>",
      "--create [--lane lane] [--cwd dir] <terminal> [-- <command> …]",
    ],
    fullDescription: [
      `Attaches to a terminal, whether the daemon runs or not. ${DETACH}`,
      "The exit code is the program's if it ends while you are attached, and 0 after detaching.",
      "Your SSH agent comes along: a terminal's SSH_AUTH_SOCK leads to the agent of the person who attached last.",
    ].join("\n"),
  },
});

const ls = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./ls.ts")).lsCommand,
  parameters: { flags: { home, json: flag(`One JSON array of ${ROW}`) } },
  docs: { brief: "List the terminals" },
});

const send = buildCommand<SendFlags, [terminal: string, text: string], Context>({
  loader: async () => (await import("./send.ts")).sendCommand,
  parameters: {
    flags: { home, enter: flag("Press Enter afterwards") },
    aliases: { e: "enter" },
    positional: {
      kind: "tuple",
      parameters: [
        terminal,
        { parse: text, placeholder: "text", brief: "The text to type; after -- it may start with a dash" },
      ],
    },
  },
  docs: {
    brief: "Type text into a terminal, unchanged",
    fullDescription:
      "Types the text unchanged, and returns when the terminal's holder has it. Works while the daemon is down.",
  },
});

const history = buildCommand<HistoryFlags, [terminal: string], Context>({
  loader: async () => (await import("./history.ts")).historyCommand,
  parameters: {
    flags: {
      home,
      vt: flag("The bytes as the program wrote them, escapes and all"),
      json: flag("One JSON object {id, name, from, to, missing, text}"),
    },
    positional: one,
  },
  docs: { brief: "Print a terminal's output as plain text" },
});

const tail = buildCommand<TailFlags, [terminal: string], Context>({
  loader: async () => (await import("./tail.ts")).tailCommand,
  parameters: {
    flags: {
      home,
      lines: countFlag("20", "How many past lines to show"),
      follow: flag("Keep printing new lines until the program ends or Ctrl-C"),
      json: flag("One JSON object {id, name, lines}; with --follow one {line} per line"),
    },
    aliases: { n: "lines", f: "follow" },
    positional: one,
  },
  docs: { brief: "Print the last lines of a terminal, and with -f new ones as they arrive" },
});

const wait = buildCommand<DataFlags, [terminal: string], Context>({
  loader: async () => (await import("./wait.ts")).waitCommand,
  parameters: { flags: { home, json: flag("One JSON object {id, name, exitCode, signal}") }, positional: one },
  docs: { brief: "Wait until the program in a terminal has ended, and return its exit code" },
});

const kill = buildCommand<KillFlags, [terminal: string], Context>({
  loader: async () => (await import("./kill.ts")).killCommand,
  parameters: {
    flags: {
      home,
      signal: textFlag("signal", "Only deliver this signal, without waiting"),
      json: flag("One JSON object {id, name, exitCode, signal}"),
    },
    aliases: { s: "signal" },
    positional: one,
  },
  docs: {
    brief: "End the program in a terminal",
    fullDescription: [
      "Asks the program to end (SIGTERM, or SIGHUP for an interactive shell), kills it after ten seconds (SIGKILL),",
      "and waits for its end. Its output stays (holdfast history) until `holdfast rm` forgets it.",
    ].join("\n"),
  },
});

const rename = buildCommand<HomeFlags, [terminal: string, name: string], Context>({
  loader: async () => (await import("./rename.ts")).renameCommand,
  parameters: { flags: { home }, positional: { kind: "tuple", parameters: [terminal, newName] } },
  docs: { brief: "Rename a terminal" },
});

const rm = buildCommand<RmFlags, [terminal: string], Context>({
  loader: async () => (await import("./rm.ts")).rmCommand,
  parameters: { flags: { home, force: flag("End its program first") }, aliases: { f: "force" }, positional: one },
  docs: { brief: "Forget a terminal whose program has ended" },
});

const restore = buildCommand<RestoreFlags, [terminal: string], Context>({
  loader: async () => (await import("./restore.ts")).restoreCommand,
  parameters: {
    flags: {
      home,
      policy: choiceFlag(POLICIES, "From now on: auto, ask first, or never"),
      as: choiceFlag(WAYS, "plan: as recovery would; shell: only its shell; recipe: run its first command again"),
      json: flag("One JSON object {id, name, policy, state, notes}"),
    },
    positional: one,
  },
  docs: {
    brief: "Restart a terminal that was lost and waits for you",
    fullDescription: [
      "Restarts a terminal whose program was lost: on the same tape, in its directory. What it ran continues if that",
      "is safe (an agent with its conversation, an editor, ssh, tail -f, your own [restore.NAME]); otherwise it is",
      "typed but not run.",
    ].join("\n"),
  },
});

export const terminalRoutes = { new: open, restore, attach, ls, send, history, tail, wait, kill, rename, rm };
