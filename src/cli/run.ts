// From the command line to an exit code; the one place where failures are caught and printed.
// N1. Every error says what happened and what to do next: `holdfast: message`, ` → hint`; with --json as JSON.
// N2. Exit codes are ours (EXIT), whatever stricli's are.
// N3. A reader that closes the pipe early (`| head`) is not a failure.
// N4. In safe mode every command prints a banner first, on stderr, except commands called by shells and service
//     managers.

import { isFault } from "../base/fault.ts";
import { ok, type Refusal, type Result } from "../base/result.ts";
import type { Console } from "../world/console.ts";
import { type Chosen, type CommandWorld, EXIT, type Exit, REPORT_IT } from "./command-world.ts";
import { chosenHome } from "./home.ts";
import { LeftOut } from "./left-out.ts";
import { plainly } from "./plain.ts";
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
  "fleet-silent": EXIT.tryLater,
  "fleet-ssh": EXIT.tryLater,
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
  const chosen = (await plainly(argv)) ?? (await parsed(argv, console));
  if (!chosen.ok) return chosen;
  const { task, home } = chosen.value;
  if (task === undefined) return ok(EXIT.ok);
  const world = await load();
  if (!argv[0]?.startsWith(SILENT)) await showBanner(world, chosenHome(console, home), wantsJson(argv)); // N4
  return task(world);
}

/** The parser is loaded only if it is needed. */
async function parsed(argv: readonly string[], console: Console): Promise<Result<Chosen>> {
  const { understood } = await import("./understand.ts");
  return understood(argv, console);
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

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).includes("--json");
}

function refusalOf(error: unknown): Refusal {
  if (isFault(error)) return { code: error.code, message: error.message, hint: error.hint };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: "internal", message, hint: REPORT_IT };
}
