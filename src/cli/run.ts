// From the command line to an exit code; the one place where failures are caught and printed.
// N1. Every error says what happened and what to do next: `holdfast: message`, ` → hint`; with --json as JSON.
// N2. Exit codes are ours (EXIT), whatever stricli's are.
// N3. A reader that closes the pipe early (`| head`) is not a failure.
// N4. In safe mode every command prints a banner first, on stderr, except commands called by shells and service
//     managers.

import { type Application, type CommandInfo, ExitCode, run, type StricliProcess } from "@stricli/core";
import { isFault } from "../base/fault.ts";
import { ok, type Refusal, refused } from "../base/result.ts";
import { visible } from "../base/visible.ts";
import type { Console } from "../world/console.ts";
import { appFor } from "./app.ts";
import { type CommandWorld, type Context, EXIT, type Exit } from "./command-world.ts";
import { foldedHelp } from "./fold.ts";
import { chosenHome } from "./home.ts";
import { LeftOut } from "./left-out.ts";
import { printRefusal } from "./print.ts";

/** Refusals of what was typed, whether the command, the daemon or a decision checked it. */
const MISTYPED = [
  ...[
    "usage",
    "bad-name",
    "bad-command",
    "bad-directory",
    "bad-home",
    "bad-host",
    "bad-reply",
    "bad-rule",
    "bad-signal",
  ],
  ...["bad-size", "bad-parameter", "missing-parameter", "no-command", "which"],
];

/** Refusals that have their own exit code. */
const EXITS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(MISTYPED.map((code) => [code, EXIT.usage])),
  "no-home": EXIT.notFound,
  unknown: EXIT.notFound,
  ambiguous: EXIT.notFound,
  answered: EXIT.tooLate,
  "not-live": EXIT.tryLater,
  down: EXIT.tryLater,
  "fleet-away": EXIT.tryLater,
  "daemon.gone": EXIT.tryLater,
  "daemon.silent": EXIT.tryLater,
  "recovery-failed": EXIT.waiting,
  changed: EXIT.waiting,
  running: EXIT.tryLater,
  "not-allowed": EXIT.notAllowed,
  "timed-out": EXIT.timedOut,
  "backup.busy": EXIT.tryLater,
  "backup.expired": EXIT.tryLater,
  interrupted: EXIT.interrupted,
};

/** Commands whose words after `--` are a program to run, not arguments. */
const RUNS_PROGRAM = ["new", "attach", "agent new"];
/** The prefix of commands that programs call, not people. */
const SILENT = "__";

export async function runCli(
  argv: readonly string[],
  console: Console,
  load: () => Promise<CommandWorld>,
): Promise<number> {
  try {
    const exit = await choose(withoutHelp(argv), console, load);
    if (exit.ok) return exit.value;
    await printRefusal(console, exit.error, wantsJson(argv));
    return EXITS[exit.error.code] ?? EXIT.failed;
  } catch (error) {
    if (isFault(error, "EPIPE")) return EXIT.ok; // N3
    if (error instanceof LeftOut) throw error;
    await printRefusal(console, refusalOf(error), wantsJson(argv));
    return EXIT.failed;
  }
}

/** `holdfast help new` is `holdfast new --help`. */
function withoutHelp(argv: readonly string[]): readonly string[] {
  const [first, ...command] = argv;
  return first === "help" ? [...command.filter((word) => !word.startsWith("-")), "--help"] : argv;
}

async function choose(argv: readonly string[], console: Console, load: () => Promise<CommandWorld>): Promise<Exit> {
  const { code, out, err, route, context } = await understand(argv);
  if (code !== ExitCode.Success) return misunderstood(err, code, route, argv);
  await console.out.write(foldedHelp(console.out, console.widthOf, visible(out)));
  if (context.task === undefined) return ok(EXIT.ok);
  const world = await load();
  if (!argv[0]?.startsWith(SILENT)) await showBanner(world, chosenHome(console, context.home), wantsJson(argv)); // N4
  return context.task(world);
}

/** The file is missing if safe mode was never on; the banner's code is loaded only if it exists. */
async function showBanner(world: CommandWorld, home: string | undefined, json: boolean): Promise<void> {
  if (home === undefined || !isThere(world, `${home}/recovery/safe-mode.json`)) return;
  const { banner } = await import("./banner.ts");
  await banner(world, home, json);
}

/** A home that we may not enter is the command's own trouble, and `doctor` says what is wrong with it. */
function isThere({ disk }: CommandWorld, path: string): boolean {
  try {
    return disk.stat(path) !== undefined;
  } catch (error) {
    if (isFault(error, "EACCES", "EPERM")) return false;
    throw error;
  }
}

/** What stricli makes of the command line: text to print, or a task to run; nothing is printed or run yet. */
async function understand(argv: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const stricli: StricliProcess = {
    stdout: { write: (text) => void out.push(text) },
    stderr: { write: (text) => void err.push(text) },
  };
  const { before, words } = divided(argv);
  const app = await appFor(argv[0]);
  const context: Context = { process: stricli, words, app };
  let route: readonly string[] = [app.config.name, ...groupOf(app, argv)];
  const forCommand = ({ prefix }: CommandInfo): Context => {
    route = prefix;
    return context;
  };
  await run(app, separated(before), { process: stricli, forCommand });
  const code = Number(stricli.exitCode);
  return { code, out: out.join(""), err: err.join(""), route, context };
}

/** The group of commands that the first word names, if it does: its help is the next to read. */
function groupOf(app: Application<Context>, [first = ""]: readonly string[]): readonly string[] {
  const entries = "getAllEntries" in app.root ? app.root.getAllEntries() : [];
  const named = entries.find(({ name }) => name.original === first)?.target;
  return named !== undefined && "getAllEntries" in named ? [first] : [];
}

/** stricli cannot tell a name from the first word of a program after `--`, so that program is hidden from it. */
function divided(argv: readonly string[]): { before: readonly string[]; words: readonly string[] | undefined } {
  const end = runsProgram(argv) === undefined ? -1 : argv.indexOf("--");
  return end < 0 ? { before: argv, words: undefined } : { before: argv.slice(0, end), words: argv.slice(end + 1) };
}

function runsProgram(argv: readonly string[]): string | undefined {
  return [argv[0] ?? "", argv.slice(0, 2).join(" ")].find((route) => RUNS_PROGRAM.includes(route));
}

/** stricli accepts `-n 5` and `-n=5`; people also write `-n5`. */
function separated(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.map((word, at) => (end < 0 || at < end ? word.replace(/^(-[a-z])(\d+)$/i, "$1=$2") : word));
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).includes("--json");
}

function misunderstood(text: string, code: number, route: readonly string[], argv: readonly string[]): Exit {
  const usage = code === ExitCode.InvalidArgument || code === ExitCode.UnknownCommand; // N2
  if (usage) return refused("usage", text.trim(), `${programHint(text, argv)}See \`${route.join(" ")} --help\`.`);
  return refused("internal", text.trim(), REPORT_IT);
}

/** People write `new sleep 100`, and mean `new -- sleep 100`. */
function programHint(text: string, argv: readonly string[]): string {
  const runs = runsProgram(argv);
  if (runs === undefined || !text.startsWith("Too many arguments") || argv.includes("--")) return "";
  const words = argv.slice(runs.split(" ").length).filter((word) => !word.startsWith("-"));
  return `A command comes after --: holdfast ${runs} -- ${words.join(" ")}. `;
}

const REPORT_IT = "This is a bug in Holdfast. Please report it with the text above.";

function refusalOf(error: unknown): Refusal {
  if (isFault(error)) return { code: error.code, message: error.message, hint: error.hint };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: "internal", message, hint: REPORT_IT };
}
