// One line of a session's `events.jsonl`: a fact, its place in the global order of all facts, and a checksum.
//   {"seq":12,"prev":9,"session_id":"…","ts":"…","event":"message.enqueued","data":{…},"by":{…},"sum":"1a2b3c4d"}
// E1. `seq` counts the entries of all sessions without a gap; `prev` is the previous `seq` of the same session (0:
//     none), so that a line lost from a session's log breaks the chain (EL-1, EL-3).
// E2. `sum` is the CRC-32 of the UTF-8 bytes before `,"sum":`. A line contains no raw tab, newline or NUL (JSON escapes
//     them).
// E3. `by` says who caused it, if someone did: for people, no fold reads it. Older versions ignore it, and wrote none.
import { crc32 } from "../../world/hash.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** What a caller wants to log. `session` is the session's directory below the home, such as `agents/<id>`. */
export type NewEntry = {
  readonly session: string;
  readonly ts: string;
  readonly event: string;
  readonly data: Json;
  /** E3 */
  readonly by?: Json | undefined;
};

export type Entry = {
  readonly seq: number;
  readonly prev: number;
  readonly session_id: string;
  readonly ts: string;
  readonly event: string;
  readonly data: Json;
  /** E3 */
  readonly by?: Json;
};

/** What is known about a line without parsing its JSON. */
export type EntryHead = { readonly seq: number; readonly prev: number };

const SEQ_KEY = Buffer.from('{"seq":');
const PREV_KEY = Buffer.from(',"prev":');
const SUM_KEY = Buffer.from(',"sum":"');
const SUM_END = Buffer.from('"}');
const SUM_TAIL_LENGTH = SUM_KEY.length + 8 + SUM_END.length;
const DIGIT_0 = 48;
const DIGIT_9 = 57;

export function sessionId(session: string): string {
  return session.slice(session.lastIndexOf("/") + 1);
}

/** The head of an intact line; undefined if anything about it is wrong. */
export function headOf(line: Uint8Array): EntryHead | undefined {
  if (!hasSum(line)) return undefined;
  const seq = numberAfter(line, 0, SEQ_KEY);
  if (seq === undefined) return undefined;
  const prev = numberAfter(line, seq.end, PREV_KEY);
  if (prev === undefined) return undefined;
  return { seq: seq.value, prev: prev.value };
}

/** The entry of a line that `headOf` accepted; undefined if it is not JSON although its sum is right. */
export function decodeEntry(line: Uint8Array): Entry | undefined {
  try {
    const { seq, prev, session_id, ts, event, data, by } = JSON.parse(
      Buffer.from(line.buffer, line.byteOffset, line.length).toString("utf8"),
    );
    return { seq, prev, session_id, ts, event, data, ...(by !== undefined && { by }) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** E2. Also of other files whose lines end in the same way. */
export function hasSum(line: Uint8Array): boolean {
  const at = line.length - SUM_TAIL_LENGTH;
  if (at < SEQ_KEY.length || !startsWith(line, at, SUM_KEY)) return false;
  if (!startsWith(line, line.length - SUM_END.length, SUM_END)) return false;
  const sum = hexAt(line, at + SUM_KEY.length);
  return sum !== undefined && sum === crc32(line.subarray(0, at)) >>> 0;
}

function startsWith(bytes: Uint8Array, at: number, key: Uint8Array): boolean {
  for (let i = 0; i < key.length; i++) if (bytes[at + i] !== key[i]) return false;
  return true;
}

/** Eight lower-case hex digits at `at`, as a number. */
export function hexAt(bytes: Uint8Array, at: number): number | undefined {
  let value = 0;
  for (let i = at; i < at + 8; i++) {
    const digit = hexDigit(bytes[i] ?? 0);
    if (digit < 0) return undefined;
    value = value * 16 + digit;
  }
  return value;
}

function hexDigit(byte: number): number {
  if (byte >= DIGIT_0 && byte <= DIGIT_9) return byte - DIGIT_0;
  return byte >= 97 && byte <= 102 ? byte - 87 : -1;
}

export type NumberAt = { readonly value: number; readonly end: number };

/** The decimal number at `at`; undefined if there is no digit, or it is too large for a seq. */
export function numberAt(bytes: Uint8Array, at: number): NumberAt | undefined {
  let value = 0;
  let end = at;
  for (; end < bytes.length; end++) {
    const byte = bytes[end] ?? 0;
    if (byte < DIGIT_0 || byte > DIGIT_9) break;
    value = value * 10 + (byte - DIGIT_0);
  }
  return end === at || value > Number.MAX_SAFE_INTEGER ? undefined : { value, end };
}

function numberAfter(bytes: Uint8Array, at: number, key: Uint8Array): NumberAt | undefined {
  return startsWith(bytes, at, key) ? numberAt(bytes, at + key.length) : undefined;
}
