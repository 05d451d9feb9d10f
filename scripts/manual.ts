// Writes docs/holdfast.1, the manual page, from the help of every command. `--check` only compares.
import { generateHelpTextForAllCommands } from "@stricli/core";
import about from "../package.json" with { type: "json" };
import { appFor } from "../src/cli/app.ts";
import { EXIT } from "../src/cli/command-world.ts";
import { publish } from "./files.ts";
import { bold, type Entry, entries, literal, plain, prose, section } from "./roff.ts";

/** The part of a command's help below a heading. */
type Help = { readonly usage: readonly string[]; readonly text: string; readonly rows: readonly Entry[] };

const COMMON: readonly Entry[] = [
  ["--home DIR", "The home: where everything is kept. By default that of HOLDFAST_HOME."],
  ["-h, --help", "Show help, of the program or of a command."],
  ["-v, --version", "Show the version."],
  ["--", "Everything after it is an argument, or the program to run."],
];

const STATUS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: "It worked.",
  failed: "It did not; the message says why and what to do next.",
  usage: "The command line is wrong: nothing was done.",
  waiting: "It waits for a person.",
  notFound: "There is no such terminal, agent, run or prompt.",
  tooLate: "Somebody else has answered already.",
  tryLater: "Not now: try again later.",
  notAllowed: "Only the operator may do this; it was asked by a program below an agent.",
  timedOut: "The time is up.",
  interrupted: "It was interrupted, by Ctrl-C for example.",
};

const ENVIRONMENT: readonly Entry[] = [
  ["HOLDFAST_HOME", "The home, an absolute path. Without it: holdfast in XDG_STATE_HOME (~/.local/state)."],
  ["HOLDFAST_CONFIG", "The configuration. Without it: holdfast/config.toml in XDG_CONFIG_HOME (~/.config)."],
  ["SHELL", "What a terminal runs if no command is given."],
  ["HOLDFAST_TERMINAL, HOLDFAST_HOME_ID", "Set for programs in terminals: the id of the terminal, and of the home."],
];

const FILES: readonly Entry[] = [
  ["~/.local/state/holdfast", "The home. Removing Holdfast does not remove it."],
  ["~/.config/holdfast/config.toml", "The configuration; `holdfast config show` prints every setting."],
  ["~/.config/systemd/user/holdfast.service", "The unit that `holdfast service install` writes."],
];

const EXAMPLES: readonly Entry[] = [
  ["holdfast up", "Starts Holdfast."],
  ["holdfast new work", "Opens a terminal and attaches to it; Ctrl-\\ leaves it running."],
  ["holdfast new build -d -- make", "Runs a program in a terminal of its own."],
  ["holdfast tail build -f", "Shows what it prints."],
  ["holdfast agent new reviewer --provider claude", "Starts an agent."],
  ["holdfast prompts", "Lists the prompts that wait for an answer."],
  ["holdfast run build.yaml", "Runs a workflow."],
  ["holdfast recovery report", "What was found after a crash, and what became of it."],
  ["holdfast doctor", "Whether all is well, and if not, what to do."],
  ["holdfast down", "Stops Holdfast; the programs in its terminals keep running."],
];

/** The help that stricli prints: USAGE, what it does, and rows under FLAGS and ARGUMENTS. */
function parseHelp(text: string): Help {
  const [usage = "", ...others] = text.split(/^(?=FLAGS$|ARGUMENTS$|COMMANDS$)/m);
  const lines = usage.split("\n").slice(1);
  const end = lines.indexOf("");
  return {
    usage: lines.slice(0, end).flatMap((line) => (line.endsWith(" --help") ? [] : line.trim())),
    text: lines.slice(end).join("\n").trim(),
    rows: others.flatMap((part) => part.split("\n").slice(1).flatMap(parseRow)),
  };
}

/** "  -d [--detach]   Do not attach to it" */
function parseRow(line: string): Entry[] {
  const [, short = "", name = "", text = ""] = /^\s*(-\w(?=\s))?\s*(\S.*?)\s{2,}(.*)$/.exec(line) ?? [];
  if (name === "" || COMMON.some(([words]) => name.replaceAll(/[[\]]/g, "") === words.split(/,? /).at(-1))) return [];
  if (name === "[--home]" || name === "--home") return [];
  const long = name.replaceAll(/^\[(.*)\](\.\.\.)?$/g, "$1$2");
  return [[short === "" ? long : `${short}, ${long}`, text]];
}

function commandPart(route: string, help: string): string {
  const { usage, text, rows } = parseHelp(help);
  return [`.SS ${literal(route)}`, ...usage.map(synopsis), ".PP", prose(text), entries(rows)].join("\n");
}

/** One that is longer than a line continues below its first argument. */
function synopsis(usage: string): string {
  const words = usage.replace(/^holdfast(?: [a-z-]+)*/, (route) => `${route}\0`).split("\0");
  return [".HP", bold(words[0] ?? ""), plain((words[1] ?? "").trim())].filter((line) => line !== "").join("\n");
}

/** The groups of `holdfast --help`, with the commands in each. */
function groupsOf(help: string): Map<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const line of help.split("\n")) {
    const [, name] = /^ {2}([a-z-]+) {2,}\S/.exec(line) ?? [];
    if (/^[A-Z][a-z]+$/.test(line)) found.set(line, []);
    else if (name !== undefined) [...found.values()].at(-1)?.push(name);
  }
  return found;
}

async function manual(): Promise<string> {
  const app = await appFor();
  const all = generateHelpTextForAllCommands(app).map(([route, help]) => ({ route, help }));
  const partsOf = (name: string) =>
    all.flatMap(({ route, help }) => (route.split(" ")[1] === name ? [commandPart(route, help)] : []));
  const groups = [...groupsOf(app.root.formatHelp(Object(undefined)))].map(([group, names]) =>
    section(group.toUpperCase(), names.flatMap(partsOf)),
  );
  const status = Object.entries(STATUS).map(([name, text]): Entry => [String(EXIT[name as keyof typeof EXIT]), text]);
  return [
    '.\\" Generated from the commands themselves by `npm run docs`; CI fails where it is out of date.',
    `.TH HOLDFAST 1 "" "holdfast ${about.version}" "User Commands"`,
    section("NAME", [`holdfast \\- ${plain(about.description.replace(/^A /, "a "))}`]),
    section("SYNOPSIS", [".B holdfast", plain("COMMAND [FLAGS] [ARGUMENTS]")]),
    section("DESCRIPTION", [prose(app.root.fullDescription ?? app.root.brief)]),
    section("OPTIONS", [entries(COMMON)]),
    ...groups,
    section("EXIT STATUS", [entries(status)]),
    section("ENVIRONMENT", [entries(ENVIRONMENT)]),
    section("FILES", [entries(FILES)]),
    section("EXAMPLES", [entries(EXAMPLES)]),
    "",
  ].join("\n");
}

const current = publish({ path: "docs/holdfast.1", text: await manual() }, Bun.argv.slice(2));
process.exit(current ? 0 : 1);
