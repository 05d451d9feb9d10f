// The commands on terminals: what they are called and take.
import { buildCommand } from "@stricli/core";
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

const POLICIES = ["auto", "ask", "never"] as const;
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
      "Opens a terminal and attaches to it; with -d, or where nobody sits at a terminal, it stays detached and its name is printed.",
      "Without a command it runs your shell. It returns when the terminal is on disk and its program started.",
      `${DETACH} The exit code is the program's where it ended while you were attached.`,
    ].join("\n"),
  },
});

const attach = buildCommand<AttachFlags, [terminal: string], Context>({
  loader: async () => (await import("./attach.ts")).attachCommand,
  parameters: {
    flags: {
      home,
      create: flag("Open it where there is none of this name: holdfast attach -c name [-- command …]"),
      readOnly: flag("Only look: nothing is typed, and the window's size does not count"),
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
      "The exit code is the program's where it ends while you are attached, and 0 after detaching.",
      "Your SSH agent comes along: SSH_AUTH_SOCK of a terminal leads to the agent of whoever attached last.",
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
    flags: { home, enter: flag("Press Enter after it") },
    aliases: { e: "enter" },
    positional: {
      kind: "tuple",
      parameters: [
        terminal,
        { parse: text, placeholder: "text", brief: "What to type; behind -- it may begin with a dash" },
      ],
    },
  },
  docs: {
    brief: "Type a text into a terminal, as it is",
    fullDescription:
      "Types the text as it is, and returns when the terminal's holder has it. It works while the daemon is down.",
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
  docs: { brief: "Print what a terminal has said, as plain text" },
});

const tail = buildCommand<TailFlags, [terminal: string], Context>({
  loader: async () => (await import("./tail.ts")).tailCommand,
  parameters: {
    flags: {
      home,
      lines: countFlag("20", "How many lines to begin with"),
      follow: flag("Go on with what comes, until the program ends or Ctrl-C"),
      json: flag("One JSON object {id, name, lines}; with --follow one {line} a line"),
    },
    aliases: { n: "lines", f: "follow" },
    positional: one,
  },
  docs: { brief: "Print the last lines of a terminal, and with -f the new ones as they come" },
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
      signal: textFlag("signal", "Only deliver this signal, and wait for nothing"),
      json: flag("One JSON object {id, name, exitCode, signal}"),
    },
    aliases: { s: "signal" },
    positional: one,
  },
  docs: {
    brief: "End the program in a terminal",
    fullDescription: [
      "Asks the program to end (SIGTERM; an interactive shell: SIGHUP), forces it after ten seconds (SIGKILL), and waits for its end.",
      "What it said stays: holdfast history. `holdfast rm` forgets it.",
    ].join("\n"),
  },
});

const rename = buildCommand<HomeFlags, [terminal: string, name: string], Context>({
  loader: async () => (await import("./rename.ts")).renameCommand,
  parameters: { flags: { home }, positional: { kind: "tuple", parameters: [terminal, newName] } },
  docs: { brief: "Give a terminal another name" },
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
    brief: "Start a terminal again that was lost and waits for you",
    fullDescription: [
      "Starts a terminal again whose program was lost: on the same tape, in its place, with what it ran going on where that is safe",
      "(an agent with its conversation, an editor, ssh, tail -f, your own [restore.NAME]) and ready to be run, but not run, where not.",
    ].join("\n"),
  },
});

export const terminalRoutes = { new: open, restore, attach, ls, send, history, tail, wait, kill, rename, rm };
