// web.search: the first hits of a search over 1 GB of terminal output, in milliseconds: from the request to the real
// search program until its first answer with a hit; the slowest of four kinds of words, each the median of its rounds.
// The peer is `grep -F` over the same tapes in the same run, for the word that is in one old place.
// Not measured: the way between the program and the browser. On standard error: the same with the program's start, a
// word that is nowhere, and what the index costs.

import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Subprocess, spawn, spawnSync } from "bun";
import { Tape } from "../src/log/tape/tape.ts";
import { TimeLog } from "../src/log/tape/time-log.ts";
import { Indexer } from "../src/search/indexer.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { median, timed } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";

const LIMITS = { segmentBytes: 4 << 20, maxBytes: 1 << 30 };
const TERMINAL_BYTES = 64 << 20;
const PRINTED = 8 << 20;
const PIECE = 16 << 10;
const APART_MS = 500;
const BEGAN = Date.UTC(2026, 0, 1);
const MAIN = "src/search/main.ts";
/** In one place of the oldest output; in one of the newest; in some lines of every block. */
const OLD = "quizzical-walrus";
const NEW = "impatient-ocelot";
const COMMON = "the";
const NOWHERE = "no-such-word";
const ROUNDS = 7;

export async function webSearch(_: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const home = makePlace(bench, "searched");
  const terminals = bench.quick ? 1 : 16;
  for (let number = 0; number < terminals; number += 1) record(home, number, bench.quick ? 2 << 20 : TERMINAL_BYTES);
  write(home, 0, [OLD, 100_000]);
  write(home, terminals - 1, [NEW, 200_000]);
  await build(bench, home);
  const kinds = [[OLD], [NEW], [COMMON], [OLD.slice(0, 4), "walrus"]];
  const medians: number[] = [];
  const program = new Searching(home);
  bench.say(`  with the program's start: ${(await timed(() => program.first([OLD]))).toFixed(0)} ms`);
  for (const words of kinds) medians.push(await rounds(program, words));
  bench.say(`  ${kinds.map((words, at) => `${words.join(" ")} ${medians[at]?.toFixed(0)} ms`).join(", ")}`);
  bench.say(`  nowhere: ${(await timed(() => program.first([NOWHERE]))).toFixed(0)} ms until that is known`);
  program.end();
  const grep = ["grep", "-rFm1", OLD, join(home, "terminals")];
  const peerValue = median(await repeat(async () => void spawnSync(grep), bench.quick ? 1 : 3));
  const peer = `grep -F over the same ${bench.quick ? "2 MB" : "1 GB"}`;
  emit(timeRow({ name: "web.search", value: Math.max(...medians), peer, peerValue }));
}

function tapeOf(home: string, number: number): string {
  return join(home, "terminals", String(number).padStart(32, "0"), "tape");
}

/** Lines as a build prints them, with colours; 8 MB that no other terminal has. */
function printed(seed: number): Buffer {
  let last = seed + 1;
  const next = (most: number) => {
    last = (Math.imul(last, 1_103_515_245) + 12_345) >>> 0;
    return (last >>> 8) % most;
  };
  const letters = (count: number) => Array.from({ length: count }, () => String.fromCharCode(97 + next(26))).join("");
  const words = Array.from({ length: 4000 }, () => letters(3 + next(8)));
  const word = () => words[next(words.length)] ?? "";
  const lines: string[] = [];
  for (let length = 0; length < PRINTED; length += lines.at(-1)?.length ?? 0)
    lines.push(
      `\u001b[32m${next(1e9)}\u001b[m ${word()} ${word()} at /src/${word()}.ts:${next(999)} in the ${word()}\r\n`,
    );
  return Buffer.from(lines.join("")).subarray(0, PRINTED);
}

/** Each terminal printed after the one before. */
function record(home: string, number: number, length: number): void {
  const directory = tapeOf(home, number);
  mkdirSync(directory, { recursive: true });
  const tape = Tape.open(realDisk(), directory, LIMITS);
  const times = new TimeLog(realDisk(), directory, 0);
  const bytes = printed(number);
  let time = BEGAN + number * (TERMINAL_BYTES / PIECE) * APART_MS;
  for (let at = 0; at < length; at += PIECE, time += APART_MS) {
    const offset = tape.append(bytes.subarray(at % bytes.length, (at % bytes.length) + PIECE));
    times.note({ offset, time }, tape.lastSegment, tape.start);
  }
  tape.close();
  times.close();
}

/** Over what was there. */
function write(home: string, number: number, [word, at]: readonly [string, number]): void {
  const file = realDisk().open(join(tapeOf(home, number), `${"0".repeat(16)}.seg`), "write");
  file.write(Buffer.from(`\r\n${word}\r\n`), at);
  file.close();
}

/** Without its rests: with them it takes as long as others use the machine. */
async function build(bench: Bench, home: string): Promise<void> {
  const order = { home, maxBytes: 1 << 30, check: 0, skip: [] };
  const clock = { ...realClock(), after: (_: number, fn: () => void) => realClock().after(0, fn) };
  const indexer = new Indexer({ disk: realDisk(), clock, collect: () => Bun.gc(true) }, order, () => undefined);
  const before = process.cpuUsage();
  const ms = await timed(() => indexer.run());
  const files = readdirSync(join(home, "search")).map((name) => statSync(join(home, "search", name)).size);
  const megabytes = files.reduce((sum, size) => sum + size, 0) / 1e6;
  const { user, system } = process.cpuUsage(before);
  const cpu = (user + system) / 1e6;
  bench.say(`  index: ${megabytes.toFixed(0)} MB, ${(ms / 1000).toFixed(0)} s, ${cpu.toFixed(1)} s of a core`);
}

async function repeat(work: () => Promise<void>, count = ROUNDS): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < count; round += 1) times.push(await timed(work));
  return times;
}

async function rounds(program: Searching, words: readonly string[]): Promise<number> {
  return median(
    await repeat(async () => {
      if (!(await program.first(words))) throw new Error(`${words.join(" ")} is not found`);
    }),
  );
}

class Searching {
  readonly #child: Subprocess<"pipe", "pipe", "inherit">;
  readonly #lines: AsyncGenerator<string>;
  #last = 0;

  constructor(home: string) {
    this.#child = spawn([process.execPath, MAIN, "find", home], { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = linesOf(this.#child.stdout);
  }

  /** Resolves with the first hits; false if there are none. */
  async first(words: readonly string[]): Promise<boolean> {
    let answer = await this.#ask({ op: "find", words, kinds: [], limit: 20, skip: [] });
    while (answer.hits.length === 0 && answer.search !== null)
      answer = await this.#ask({ op: "more", search: answer.search, limit: 20 });
    return answer.hits.length > 0;
  }

  end(): void {
    this.#child.stdin.end();
  }

  async #ask(request: object): Promise<{ readonly hits: readonly unknown[]; readonly search: number | null }> {
    this.#last += 1;
    this.#child.stdin.write(`${JSON.stringify({ n: this.#last, ...request })}\n`);
    await this.#child.stdin.flush();
    return JSON.parse((await this.#lines.next()).value ?? "{}").value;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  for await (const bytes of stream) {
    text += Buffer.from(bytes).toString();
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
}
