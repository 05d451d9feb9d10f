// `npm run proof [-- part…] [--list] [--again] [--minutes N]`: runs the parts of the proof (proof-parts.ts) that are
// not finished yet, one after the other, and writes the row of each into docs/PROOF.md.
// PR1. It can be stopped at any time: progress is in .fuzz/proof.json after every round, and the next run continues.
// PR2. A part runs for at most 45 minutes at a time, and no round starts after `--minutes`. A round that is cut short
//      does not count; if not even one fits into 45 minutes, the part has failed.
// PR3. Everything a round started is gone when it ends, also when it was cut short: it has a temporary directory of its
//      own, by which its processes are found (bench/processes.ts). If it failed, the directory is kept.
// What a round prints goes to .fuzz/proof-PART.log; the end of it is shown if it failed. Exit code 0 if nothing failed,
// 1 if something did, 2 for a part or flag that does not exist.
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killAllOf } from "../bench/processes.ts";
import { ROOT, readAll, readIfThere, readText } from "./files.ts";
import { poolsOf } from "./pools.ts";
import { readWish, type Wish } from "./proof-arguments.ts";
import { PART_MINUTES, PARTS, type Part } from "./proof-parts.ts";
import {
  begun,
  isFinished,
  type Progress,
  type Round,
  readRound,
  readState,
  renewed,
  resultOf,
  type State,
  seedOf,
  withRound,
  writeState,
} from "./proof-state.ts";

const STATE = ".fuzz/proof.json";
const PAGE = "docs/PROOF.md";
const QUARTERS = 4;
const SHOWN_LINES = 60;

function headCommit(): string {
  const { stdout } = Bun.spawnSync(["git", "rev-parse", "HEAD"], { cwd: ROOT, stderr: "ignore" });
  const { stdout: changes } = Bun.spawnSync(["git", "status", "--porcelain", "src", "tests", "scripts"], { cwd: ROOT });
  if (changes.length > 0)
    console.log("notice: there are changes that are not committed; the rows name the commit below");
  return stdout.toString().trim();
}

function write(path: string, text: string): void {
  writeFileSync(join(ROOT, path), text);
}

/** Files with real processes: every fourth one, from that of the quarter. */
function filesOf({ quarter }: Part): string[] {
  if (quarter === undefined) return [];
  const pools = poolsOf(["src", "tests", "scripts", "bench"].flatMap((room) => readAll(`${room}/**/*.ts`)));
  const real = [...pools].filter(([, pool]) => pool === "real-process").map(([path]) => path);
  return real.filter((_, at) => at % QUARTERS === quarter - 1);
}

/** Removed with all its processes when we are told to stop (PR3). */
function makePlace(): string {
  mkdirSync(join(ROOT, ".fuzz"), { recursive: true });
  const place = mkdtempSync(join(tmpdir(), "p-")); // Short: names of sockets have to fit below it.
  chmodSync(place, 0o711); // As root, servers in it run as another user.
  process.removeAllListeners("exit").on("exit", () => killAllOf(place));
  return place;
}

/** Undefined if the time was up before the round had ended (PR2). */
async function runRound(part: Part, seed: number, leftMs: number): Promise<Round | undefined> {
  const place = makePlace();
  const log = join(ROOT, `.fuzz/proof-${part.name}.log`);
  const output = openSync(log, "w");
  const words = [...part.command, ...filesOf(part)].map((word) => word.replace("{seed}", `${seed}`));
  const env = { ...process.env, ...part.env, HOLDFAST_SEED: `${seed}`, TMPDIR: place };
  for (let loops = part.busyLoops ?? 0; loops > 0; loops -= 1) Bun.spawn(["sh", "-c", "while :; do :; done"], { env });
  const started = performance.now();
  const child = Bun.spawn([process.execPath, ...words], { cwd: ROOT, env, stdio: ["ignore", output, output] });
  const timer = setTimeout(() => killAllOf(place), leftMs); // PR2
  const code = await child.exited;
  const ms = performance.now() - started;
  clearTimeout(timer);
  closeSync(output);
  killAllOf(place); // PR3
  const round = readRound(part, readFileSync(log, "utf8"), code, ms / 1000);
  const isCut = ms >= leftMs;
  if (isCut || round.failures === 0) rmSync(place, { recursive: true, force: true });
  else console.log(`${part.name}: what the failed round left is in ${place}`);
  return isCut ? undefined : round;
}

/** As far as the time allows. */
async function runPart(part: Part, first: Progress, endMs: number, save: (now: Progress) => void): Promise<Progress> {
  const partEndMs = performance.now() + PART_MINUTES * 60_000;
  let now = first;
  while (!isFinished(part, now) && now.failures === 0) {
    const seed = seedOf(now);
    const leftMs = Math.min(endMs, partEndMs) - performance.now();
    if (leftMs <= 0) break;
    const round = await runRound(part, seed, leftMs);
    const tooLong = round === undefined && partEndMs <= endMs && now.rounds === first.rounds;
    if (round === undefined && !tooLong) break; // PR2
    now = withRound(now, round ?? { counted: 0, failures: 1, seconds: PART_MINUTES * 60 });
    save(now); // PR1
    const how = tooLong ? `not within ${PART_MINUTES} minutes` : `${now.failures} failures`;
    console.log(`${part.name}: round ${now.rounds}, seed ${seed}: ${how}`);
  }
  return now;
}

function list(state: State): void {
  for (const part of PARTS) {
    const progress = state.get(part.name);
    const how = progress === undefined ? "not run yet" : resultOf(part, progress);
    console.log(`${part.name.padEnd(14)} ${part.tries}\n${" ".repeat(15)}${how}`);
  }
}

/** Returns whether nothing failed. */
async function runAll({ parts, again, minutes }: Wish & { kind: "run" }, before: State): Promise<boolean> {
  const commit = headCommit();
  const today = new Date().toISOString().slice(0, 10);
  const endMs = performance.now() + minutes * 60_000;
  const state = new Map(before);
  const ended: Progress[] = [];
  for (const part of parts) {
    const progress = again ? undefined : state.get(part.name);
    if (isFinished(part, progress)) {
      console.log(`${part.name}: finished at ${progress?.commit.slice(0, 12)}; --again repeats it`);
      continue;
    }
    if (performance.now() >= endMs) break;
    const first = begun(progress, commit, today, Math.floor(Math.random() * 1e9));
    console.log(`${part.name}: ${part.tries}; seed ${seedOf(first)}, commit ${commit.slice(0, 12)}`);
    const last = await runPart(part, first, endMs, (now) => {
      state.set(part.name, now);
      write(STATE, writeState(state)); // PR1
    });
    report(part, last);
    ended.push(last);
  }
  return ended.every(({ failures }) => failures === 0);
}

function report(part: Part, last: Progress): void {
  if (last.rounds > 0) write(PAGE, renewed(readText(PAGE), PARTS, part, resultOf(part, last)));
  const log = `.fuzz/proof-${part.name}.log`;
  if (last.failures === 0)
    console.log(`${part.name}: ${isFinished(part, last) ? "finished" : "unfinished; the next run continues"}`);
  else
    console.log(`${part.name}: FAILED; ${log} ends with:\n${readText(log).split("\n").slice(-SHOWN_LINES).join("\n")}`);
}

process.on("SIGINT", () => process.exit(130)).on("SIGTERM", () => process.exit(143));
const wish = readWish(Bun.argv.slice(2), PARTS);
const state = readState(readIfThere(STATE));
if (wish.kind === "list") list(state);
else if (wish.kind === "page") write(PAGE, renewed(readText(PAGE), PARTS));
else if (wish.kind === "run") process.exitCode = (await runAll(wish, state)) ? 0 : 1;
else if (wish.kind === "wrong") {
  console.error(wish.message);
  process.exitCode = 2;
}
