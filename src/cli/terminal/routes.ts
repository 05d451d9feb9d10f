// The terminal commands: their names, flags and arguments.

import { buildCommand } from "@stricli/core";
import type { RestorePolicy } from "../../core/terminal/restoration.ts";
import type { HolderSizing } from "../../wire/holder/protocol.ts";
import type { Context } from "../command-world.ts";
import {
  allHomes,
  anyTerminal,
  choiceFlag,
  countFlag,
  type DataFlags,
  described,
  flag,
  home,
  newName,
  terminal,
  text,
  textFlag,
  timeFlag,
} from "../flags.ts";
import type { AttachFlags } from "./attach.ts";
import type { HistoryFlags } from "./history.ts";
import type { KillFlags } from "./kill.ts";
import type { LsFlags } from "./ls.ts";
import type { NewFlags } from "./new.ts";
import type { ReplayFlags } from "./replay.ts";
import type { RestoreFlags } from "./restore.ts";
import type { RmFlags } from "./rm.ts";
import type { SendFlags } from "./send.ts";
import type { TailFlags } from "./tail.ts";
import type { WaitFlags } from "./wait.ts";

/** The list in core/ would be loaded with every command. */
const POLICIES = ["auto", "ask", "never"] as const satisfies readonly RestorePolicy[];
const WAYS = ["plan", "shell", "recipe"] as const;
const one = { kind: "tuple", parameters: [terminal] } as const;
const several = { kind: "array", minimum: 1, parameter: terminal } as const;
const ROW = [
  "{id, name, lane, state, pid, command, cwd, createdAt, clients, exitCode, signal, lastOutputAt, policy,",
  "generation, restoredAt, program, typed, trouble?, agent: {name, session, state}}",
].join(" ");
const DETACH = "Ctrl-\\ (terminal.detach_key) leaves it running; pressed twice, it goes to the program.";

const lane = textFlag("lane", "The lane it belongs to: terminals that share a purpose [default = main]");
const cwd = textFlag("dir", "Where its program runs [default = here]");

/** `80x24`, or one of the words. */
function sizing(input: string): HolderSizing {
  if (input === "smallest" || input === "latest") return input;
  const [, cols = "", rows = ""] = /^([1-9]\d{0,3})x([1-9]\d{0,3})$/.exec(input) ?? [];
  if (cols === "") throw new Error("it must be smallest, latest, or columns and rows such as 80x24");
  return { cols: Number(cols), rows: Number(rows) };
}

function speed(input: string): number {
  const times = Number(input);
  if (!/^\d+(?:\.\d+)?$/.test(input) || times < 0.01 || times > 1000) throw new Error("it must be 0.01 to 1000");
  return times;
}

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
    ...described(
      "Open a terminal",
      "Opens a terminal and attaches to it; with -d, or if standard input is not a terminal, it stays detached and its",
      "name is printed. Without a command it runs your shell. It returns when the terminal is on disk and its program",
      "has started.",
      `${DETACH} If the program ends while you are attached, the exit code is the program's.`,
      "An ended terminal of the same name is replaced: it and its output are forgotten, as with `holdfast rm`.",
    ),
    customUsage: [
      "[--home dir] [--detach] [--lane lane] [--cwd dir] [--restore auto|ask|never] [--json] [<name>] [-- <command> …]",
    ],
  },
});

const attach = buildCommand<AttachFlags, [terminal?: string], Context>({
  loader: async () => (await import("./attach.ts")).attachCommand,
  parameters: {
    flags: {
      home,
      create: flag("Open it if no terminal has this name: holdfast attach -c name [-- command …]"),
      readOnly: flag("Read-only: nothing you type is sent, and the window's size does not count"),
      size: {
        kind: "parsed",
        parse: sizing,
        optional: true,
        placeholder: "smallest|latest|CxR",
        brief: "Whose window determines the size from now on: the smallest, the one typed into last, or none, but CxR",
      },
      lane,
      cwd,
    },
    aliases: { c: "create", r: "readOnly" },
    positional: { kind: "tuple", parameters: [{ ...anyTerminal, optional: true }] },
  },
  docs: {
    ...described(
      "Attach to a terminal",
      "Attaches to a terminal, whether the daemon runs or not. Without a name: to the only one that runs, or to one that",
      `you choose from a list, in which the last one is marked. ${DETACH}`,
      "Followed by n or p it switches to the next or the previous terminal, by s to one that you choose.",
      "The exit code is the program's if it ends while you are attached, and 0 after detaching.",
      "Your SSH agent comes along: a terminal's SSH_AUTH_SOCK leads to the agent of the person who attached last.",
      "HOST/NAME is a terminal of another home of the fleet (ls --all): ssh runs this command there ([fleet] ssh).",
    ),
    customUsage: [
      "[--home dir] [--read-only] [--size smallest|latest|CxR] [<terminal>]",
      "--create [--lane lane] [--cwd dir] <terminal> [-- <command> …]",
    ],
  },
});

const ls = buildCommand<LsFlags, [], Context>({
  loader: async () => (await import("./ls.ts")).lsCommand,
  parameters: {
    flags: {
      home,
      lane: textFlag("lane", "Only those of this lane"),
      all: allHomes,
      json: flag(`One JSON array of ${ROW}; with --all also {host, home, ageMs}`),
    },
  },
  docs: { brief: "List the terminals" },
});

const send = buildCommand<SendFlags, [terminal: string, text?: string], Context>({
  loader: async () => (await import("./send.ts")).sendCommand,
  parameters: {
    flags: {
      home,
      enter: flag("Press Enter afterwards"),
      key: {
        kind: "parsed",
        parse: text,
        variadic: true,
        optional: true,
        placeholder: "key",
        brief: "Press a key after the text, named as in tmux: C-c, M-x, Escape, Up, F5. May be repeated",
      },
      json: flag("One JSON object {id, name, bytes}"),
    },
    aliases: { e: "enter", k: "key" },
    positional: {
      kind: "tuple",
      parameters: [
        anyTerminal,
        {
          parse: text,
          optional: true,
          placeholder: "text",
          brief: "The text to type; after -- it may start with a dash",
        },
      ],
    },
  },
  docs: described(
    "Type text into a terminal, unchanged, or press keys",
    "Types the text, presses the keys, and returns when the terminal's holder has all of it. Works while the daemon is",
    "down. Keys: a character, Enter, Escape, Tab, BTab, BSpace, Space, Up, Down, Left, Right, Home, End, PageUp,",
    "PageDown, Insert, Delete, F1 to F12; with C- (Ctrl), M- (Alt) or S- (Shift) before them.",
  ),
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
    positional: { kind: "tuple", parameters: [anyTerminal] },
  },
  docs: { brief: "Print the last lines of a terminal, and with -f new ones as they arrive" },
});

const replay = buildCommand<ReplayFlags, [terminal: string], Context>({
  loader: async () => (await import("./replay.ts")).replayCommand,
  parameters: {
    flags: {
      home,
      at: textFlag("time", "Show the screen as it was then: 10m (ago), 15:04, 2026-11-18 15:04:05, or ISO 8601"),
      from: textFlag("time", "Begin there [default = with the tape]"),
      to: textFlag("time", "End there [default = now]"),
      export: textFlag("file", "Write an asciicast (version 2) to a new file, or with - to standard output"),
      speed: {
        kind: "parsed",
        parse: speed,
        optional: true,
        placeholder: "n",
        brief: "Play so many times as fast, such as 4 or 0.5 [default = 1]",
      },
      maxIdle: timeFlag("Shorten longer pauses to this [default = 2s; with --export as they were]"),
      json: flag(
        "With --at: one JSON object {id, name, offset, time, cols, rows, cursor, title, alternate, exact, lines}",
      ),
    },
    positional: one,
  },
  docs: described(
    "Show what a terminal showed earlier",
    "Plays what a terminal showed: space pauses, the arrows left and right jump ten seconds, q quits. With --at, prints",
    "the screen as it was at that moment, to half a second. With --export, writes what was printed, and when, as an",
    "asciicast. It works while the daemon is down and after the program has ended, as far as the tape has its output.",
    "Output of older versions has no times.",
  ),
});

const wait = buildCommand<WaitFlags, [terminal: string], Context>({
  loader: async () => (await import("./wait.ts")).waitCommand,
  parameters: {
    flags: {
      home,
      timeout: timeFlag("Wait at most this long: 30s, 5m, or a number of seconds"),
      json: flag("One JSON object {id, name, exitCode, signal}"),
    },
    positional: one,
  },
  docs: described(
    "Wait until the program in a terminal has ended, and return its exit code",
    "With --timeout, the exit code is 124 if it is still running after that time.",
  ),
});

const kill = buildCommand<KillFlags, string[], Context>({
  loader: async () => (await import("./kill.ts")).killCommand,
  parameters: {
    flags: {
      home,
      signal: textFlag("signal", "Only deliver this signal, without waiting"),
      lane: textFlag("lane", "All running terminals of this lane, instead of some by their names"),
      json: flag(
        "One JSON object {id, name, exitCode, signal}, with --signal {id, name, sent}; an array if there may be several",
      ),
    },
    aliases: { s: "signal" },
    positional: { kind: "array", parameter: terminal },
  },
  docs: described(
    "End the programs in terminals",
    "Asks the programs to end (SIGTERM, or SIGHUP for an interactive shell), kills them after ten seconds (SIGKILL),",
    "and waits for their ends. Their output stays (holdfast history) until `holdfast rm` forgets it.",
  ),
});

const rename = buildCommand<DataFlags, [terminal: string, name: string], Context>({
  loader: async () => (await import("./rename.ts")).renameCommand,
  parameters: {
    flags: { home, json: flag("One JSON object {id, name}") },
    positional: { kind: "tuple", parameters: [terminal, newName] },
  },
  docs: { brief: "Rename a terminal" },
});

const move = buildCommand<DataFlags, [terminal: string, lane: string], Context>({
  loader: async () => (await import("./move.ts")).moveCommand,
  parameters: {
    flags: { home, json: flag("One JSON object {id, name, lane}") },
    positional: { kind: "tuple", parameters: [terminal, { ...newName, placeholder: "lane" }] },
  },
  docs: { brief: "Move a terminal to another lane" },
});

const rm = buildCommand<RmFlags, string[], Context>({
  loader: async () => (await import("./rm.ts")).rmCommand,
  parameters: {
    flags: {
      home,
      force: flag("End its program first"),
      json: flag("One JSON array of {id, name}: those that were forgotten"),
    },
    aliases: { f: "force" },
    positional: several,
  },
  docs: { brief: "Forget terminals whose programs have ended" },
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
  docs: described(
    "Restart a terminal that was lost and waits for you",
    "Restarts a terminal whose program was lost: on the same tape, in its directory. What it ran continues if that",
    "is safe (an agent with its conversation, an editor, ssh, tail -f, your own [restore.NAME]); otherwise it is",
    "typed but not run.",
  ),
});

export const terminalRoutes = {
  new: open,
  restore,
  attach,
  ls,
  send,
  history,
  tail,
  replay,
  wait,
  kill,
  rename,
  move,
  rm,
};
