// What stricli makes of a command line. Loaded only for those that are not plain (plain.ts).
import { type Application, type CommandInfo, ExitCode, run, type StricliProcess } from "@stricli/core";
import { ok, type Result, refused } from "../base/result.ts";
import { visible } from "../base/visible.ts";
import type { Console } from "../world/console.ts";
import { appFor } from "./app.ts";
import { type Chosen, type Context, REPORT_IT } from "./command-world.ts";
import { divided, runsProgram } from "./divided.ts";
import { foldedHelp } from "./fold.ts";

/** Prints the help, if that is what was wanted; there is no task then. */
export async function understood(argv: readonly string[], console: Console): Promise<Result<Chosen>> {
  const { code, out, err, route, context } = await understand(argv);
  if (code !== ExitCode.Success) return misunderstood(err, code, route, argv);
  await console.out.write(foldedHelp(console.out, console.widthOf, visible(out)));
  return ok(context);
}

/** Text to print, or a task to run; nothing is printed or run yet. */
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

/** stricli accepts `-n 5` and `-n=5`; people also write `-n5`. */
function separated(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.map((word, at) => (end < 0 || at < end ? word.replace(/^(-[a-z])(\d+)$/i, "$1=$2") : word));
}

function misunderstood(text: string, code: number, route: readonly string[], argv: readonly string[]) {
  const usage = code === ExitCode.InvalidArgument || code === ExitCode.UnknownCommand;
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
