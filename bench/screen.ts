// screen.parse: output through our emulator, which feeds whole pieces only, in MB/s; the peer is @xterm/headless
// itself, with its own character widths, given the same bytes in the same portions.
// screen.snapshot: one screen of 80×24 with 10 KB of scrollback as text that restores it, in milliseconds; the peer
// reads the same lines as plain text with the emulator's own `translateToString`: no colours, no modes, no cursor.
// screen.restore: that text into a fresh terminal, in milliseconds; the peer is the same text into a fresh
// @xterm/headless of its own.
// The bytes are those of a coding agent's session: redrawn frames, colours, wide characters, scrolling. Not measured:
// reading the tape, the program's start, the way between it and the daemon.
import { Terminal } from "@xterm/headless";
import { Emulator, MAX_FEED, SCROLLBACK_LINES } from "../src/vt/emulator.ts";
import { serialize } from "../src/vt/serialize.ts";
import { median, timed } from "./rounds.ts";
import { type Row, rateRow, timeRow } from "./row.ts";
import type { Bench } from "./scratch.ts";

const SIZE = { cols: 80, rows: 24 };
const ESC = "\u001b";
const MB = 1_000_000;
const OPTIONS = { ...SIZE, scrollback: SCROLLBACK_LINES, allowProposedApi: true };

export async function screens(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const turns = bench.quick ? 3 : 31;
  if (names.includes("screen.parse")) emit(await parse(bench.quick ? MB : 8 * MB, bench.quick ? 1 : 7));
  if (names.includes("screen.snapshot")) emit(await snapshot(turns));
  if (names.includes("screen.restore")) emit(await restore(turns));
}

function frame(n: number): string {
  const bar = "─".repeat(SIZE.cols - 2);
  return [
    `${ESC}[?2026h${ESC}[2K${ESC}[1A${ESC}[2K${ESC}[1A${ESC}[2K${ESC}[G`,
    `${ESC}[38;2;215;119;87m✻ Pondering…${ESC}[0m ${ESC}[2m(${n} s · esc to interrupt)${ESC}[0m\r\n`,
    `${n % 3 === 0 ? `${ESC}[32m+ a line ${n} of output — 漢字, café\u0301 ${ESC}[0m\r\n` : `plain output of a tool, number ${n}\r\n`}`,
    `${ESC}[38;5;244m╭${bar}╮${ESC}[0m\r\n│ > typed${ESC}[7m ${ESC}[0m${ESC}[?2026l`,
  ].join("");
}

/** What a coding agent's session prints. */
export function output(bytes: number): Buffer {
  const some = Buffer.from(Array.from({ length: 500 }, (_, n) => frame(n)).join(""));
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / some.length) }, () => some));
}

async function parse(size: number, rounds: number): Promise<Row> {
  const bytes = output(size);
  const rate = (ms: number) => bytes.length / MB / (ms / 1000);
  const { ours, peers } = await inTurn(
    rounds,
    () => oursParsed(bytes).dispose(),
    async () => (await peerGiven(bytes)).dispose(),
  );
  return rateRow(
    { name: "screen.parse", value: rate(ours), peer: "@xterm/headless alone", peerValue: rate(peers) },
    "MB/s",
  );
}

function oursParsed(bytes: Buffer): Emulator {
  const emulator = new Emulator(SIZE, 0);
  emulator.feed(bytes);
  return emulator;
}

async function peerGiven(data: Buffer | string): Promise<Terminal> {
  const terminal = new Terminal(OPTIONS);
  for (let at = 0; at < data.length; at += MAX_FEED) {
    const part = typeof data === "string" ? data.slice(at, at + MAX_FEED) : data.subarray(at, at + MAX_FEED);
    const written = new Promise<void>((done) => terminal.write(part, done));
    if (at + MAX_FEED >= data.length) await written;
  }
  return terminal;
}

async function snapshot(turns: number): Promise<Row> {
  const bytes = output(200_000);
  const emulator = oursParsed(bytes);
  const terminal = await peerGiven(bytes);
  const lines = serialize(emulator).split("\r\n").length;
  const plain = () => {
    const { active } = terminal.buffer;
    for (let y = active.length - lines; y < active.length; y += 1) active.getLine(y)?.translateToString();
  };
  const { ours, peers } = await inTurn(turns, () => serialize(emulator), plain);
  return timeRow({ name: "screen.snapshot", value: ours, peer: "the same lines as plain text", peerValue: peers });
}

async function restore(turns: number): Promise<Row> {
  const text = serialize(oursParsed(output(200_000)));
  const back = () => {
    const emulator = new Emulator(SIZE, 0);
    emulator.xterm.write(text);
    emulator.dispose();
  };
  const { ours, peers } = await inTurn(turns, back, async () => (await peerGiven(text)).dispose());
  return timeRow({ name: "screen.restore", value: ours, peer: "the same text into @xterm/headless", peerValue: peers });
}

/** Medians of one of ours and one of the peer's in turn; the first of both only warm up. */
async function inTurn(turns: number, ours: () => unknown, peers: () => unknown) {
  const seen = { ours: [] as number[], peers: [] as number[] };
  for (let turn = 0; turn <= turns; turn += 1) {
    const ms = { ours: await timed(ours), peers: await timed(peers) };
    if (turn === 0) continue;
    seen.ours.push(ms.ours);
    seen.peers.push(ms.peers);
  }
  return { ours: median(seen.ours), peers: median(seen.peers) };
}
