#!/usr/bin/env bun
// The exercise: a program for crash harnesses, ours and others. Kill it, cut its power, fail its calls; then check what
// is left.
//   bun tests/crash/exercise.ts run <dir> [--events N] [--seed S]
//   bun tests/crash/exercise.ts verify <dir> <acks-file>
// stdout has nothing but acknowledgements (acks.ts), all words go to stderr. Exit codes: 0 all is well · 1 the disk
// failed or is in use,
// and nothing was acknowledged after that · 2 wrong usage · 3 a promise is broken · 70 a bug of ours.
import { resolve } from "node:path";
import { isFault } from "../../src/base/fault.ts";
import { readWhole } from "../../src/log/file/file.ts";
import { realWorld, type World } from "../../src/world/world.ts";
import { BadLine, parseAcks, print } from "./acks.ts";
import { Refused, type RunOptions, run } from "./run.ts";
import { verify } from "./verify.ts";

const USAGE = `usage: exercise.ts run <dir> [--events N] [--seed S]
       exercise.ts verify <dir> <acks-file>

run     writes to <dir> until N events are there in total (2000), and prints a line for each thing that is durable.
        Started again, it recovers and goes on. S (1) decides what is written.
verify  reads <dir> and the lines that all runs on it have printed; exit 0: everything is there, 3: a promise is broken.`;

const DEFAULT_EVENTS = 2000;
const DEFAULT_SEED = 1;
/** Enough to see what happened. */
const MAX_SENTENCES = 50;

class WrongUsage extends Error {
  override readonly name = "WrongUsage";
}

function readRun(args: readonly string[]): RunOptions {
  const [home, ...flags] = args;
  if (home === undefined || home === "" || home.startsWith("--")) throw new WrongUsage("run needs a directory");
  const options = { home: resolve(home), events: DEFAULT_EVENTS, seed: DEFAULT_SEED };
  for (let at = 0; at < flags.length; at += 2) {
    const flag = flags[at];
    if (flag === "--events") options.events = numberOf(flag, flags[at + 1]);
    else if (flag === "--seed") options.seed = numberOf(flag, flags[at + 1]);
    else throw new WrongUsage(`${JSON.stringify(flag)} is not an option of run`);
  }
  return options;
}

function numberOf(flag: string, text: string | undefined): number {
  const number = /^\d{1,15}$/.test(text ?? "") ? Number(text) : Number.NaN;
  if (Number.isNaN(number)) throw new WrongUsage(`${flag} needs a whole number, not ${JSON.stringify(text ?? "")}`);
  return number;
}

function runVerify(world: World, args: readonly string[]): number {
  const [home, file, ...more] = args;
  if (home === undefined || file === undefined || more.length > 0)
    throw new WrongUsage("verify needs a directory and a file of acknowledgements");
  const bytes = readWhole(world.disk, resolve(file));
  if (bytes === undefined) throw new WrongUsage(`${file} does not exist`);
  const acks = parseAcks(new TextDecoder().decode(bytes));
  const broken = verify({ ...world, home: resolve(home) }, acks);
  for (const sentence of broken.slice(0, MAX_SENTENCES)) console.error(`broken: ${sentence}`);
  if (broken.length > MAX_SENTENCES) console.error(`broken: and ${broken.length - MAX_SENTENCES} more`);
  console.error(`${acks.length} acknowledgements, ${broken.length} broken promises`);
  return broken.length === 0 ? 0 : 3;
}

async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  try {
    if (command === "verify") return runVerify(realWorld(), rest);
    if (command !== "run")
      throw new WrongUsage(command === undefined ? "a command is missing" : `there is no command ${command}`);
    await run(realWorld(), readRun(rest), { tell: print, say: (words) => console.error(words) });
    return 0;
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): number {
  if (error instanceof WrongUsage || error instanceof BadLine) {
    console.error(`${error.message}\n${error instanceof WrongUsage ? USAGE : ""}`.trimEnd());
    return 2;
  }
  if (isFault(error) || error instanceof Refused) {
    console.error(`stopped: ${error.message}\n${error.hint}`);
    return 1;
  }
  console.error(error);
  return error instanceof Error && "syscall" in error ? 1 : 70; // stdout itself may be the file that failed
}

process.exit(await main(process.argv.slice(2)));
