// What the exercise writes: all of it follows from a seed and a number, so that a reader knows what it must be.
// C1. A transaction is known by its id (0, 1, 2 …), a checkpoint by its number (1, 2, 3 …), a byte of the tape by its
//     offset.
// C2. Each carries its seed and its number, so runs with different seeds may follow each other in one directory.
import type { Json, NewEntry } from "../../src/log/session/entry.ts";
import { SimRandom } from "../sim/random.ts";

/**
 * New sessions, and so new directories, appear as the exercise proceeds: three in each place for this many
 * transactions.
 */
const IDS_IN_AN_ERA = 60;
const AT_ONCE = 3;
const MAX_SESSIONS = 4;
const FIRST_DAY = Date.UTC(2026, 0, 1);
/** JSON has to escape some of these, UTF-8 needs several bytes for others. */
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz 0123456789", '"', "\\", "\n", "\t", "\u0000", "é", "漢", "🪢"];

/** The entries of transaction `id`: one to four, each in another session, of all three places. */
export function transaction(seed: number, id: number): NewEntry[] {
  const random = randomOf(seed, id, 1);
  const count = random.chance(0.5) ? 1 : 2 + random.int(MAX_SESSIONS - 1);
  const sessions = new Set(Array.from({ length: count }, () => sessionName(random, Math.floor(id / IDS_IN_AN_ERA))));
  const ts = new Date(FIRST_DAY + id * 1000).toISOString();
  return [...sessions].map((session, index) => {
    const data: Json = { id, seed, part: index + 1, of: sessions.size, text: text(random) };
    return { session, ts, event: sessions.size === 1 ? "exercise.single" : "exercise.shared", data };
  });
}

function sessionName(random: SimRandom, era: number): string {
  const number = era * AT_ONCE + random.int(AT_ONCE);
  const place = random.pick(["agents/a", "terminals/t", "state/rock/sessions/r", "state/shore/sessions/s"]);
  return `${place}-${number}`;
}

function text(random: SimRandom): string {
  const length = random.chance(0.1) ? random.int(1500) : random.int(120);
  return Array.from({ length }, () => random.pick(LETTERS)).join("");
}

/** The body of checkpoint `number`; a few kilobytes, so that a torn one shows. */
export function checkpointBody(seed: number, number: number): Json {
  const random = randomOf(seed, number, 2);
  return { seed, number, lines: Array.from({ length: 1 + random.int(60) }, () => text(random)) };
}

/** The tape's bytes at `offset`: lines of sixteen bytes, each with its position. */
export function tapeBytes(offset: number, length: number): Uint8Array {
  const first = offset - (offset % TAPE_LINE);
  let lines = "";
  for (let at = first; at < offset + length; at += TAPE_LINE)
    lines += `${at.toString(16).padStart(TAPE_LINE - 1, "0")}\n`;
  return Buffer.from(lines).subarray(offset - first, offset - first + length);
}

const TAPE_LINE = 16;

/** How much goes to the tape after transaction `id`. */
export function tapeLength(seed: number, id: number): number {
  return 1 + randomOf(seed, id, 3).int(MAX_TAPE_BYTES);
}

export const MAX_TAPE_BYTES = 700;

function randomOf(seed: number, number: number, purpose: number): SimRandom {
  return new SimRandom((seed % 2 ** 20) * 2 ** 32 + ((number * 8 + purpose) % 2 ** 32));
}
