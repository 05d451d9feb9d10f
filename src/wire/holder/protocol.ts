// The protocol between a holder and its clients (the daemon, `attach`, the web host), version 1, frozen: a newer
// version must adopt holders that an older one started. Frames as in frames.ts; control in JSON, bytes as they are.
// H1. The first frame of a client is HELLO with the holder's token; anything else closes the connection.
// H2. Unknown tags and unknown JSON fields are ignored; known ones never change their meaning.
// H3. Input is numbered by its writer from 1 without gaps and names the generation: a repeat is dropped and confirmed
//     again, a gap or another generation is refused. Confirmed input was handed to the child exactly once.
// H4. Output carries the absolute offset of its first byte on the tape. Nothing is left out between two OUTPUT frames
//     without a RESYNC.
import {
  count,
  either,
  flag,
  type Infer,
  list,
  literal,
  nullable,
  object,
  optional,
  table,
  text,
  textOf,
  whole,
} from "../shape.ts";
import { encodeFrame, putU32 } from "./frames.ts";

export const PROTOCOL = 1;

/** From a client. */
export const HELLO = 1;
export const INPUT = 2;
export const RESIZE = 3;
export const SIGNAL = 4;
export const STATUS = 5;
/** Pipe mode: the daemon has stored everything before this offset; the holder may free it and read on. */
export const CONSUMED = 6;
/** Pipe mode: the child's input ends. */
export const END_INPUT = 7;
/** What the screen program knows about a question of STATUS (`asking`): typed if it is still open. */
export const ANSWER = 8;
/** From the holder. */
export const WELCOME = 64;
export const OUTPUT = 65;
export const INPUT_TAKEN = 66;
export const STATUS_IS = 67;
export const ENDED = 68;
/** The client was too slow: output continues at this offset, and it should redraw the screen. */
export const RESYNC = 69;
export const REFUSED = 70;
/** Whether this client's window is the one that answers the program's questions. Until told otherwise, it is. */
export const ANSWERS = 71;
/** The size of the program's window, from an offset of the output on: after WELCOME, and at each change. */
export const SIZE_IS = 72;

/** Larger terminals do not exist; the system counts in 16 bits. */
const MAX_SIDE = 65_535;
export const side = whole(1, MAX_SIDE);
const mode = literal("pty", "pipe");

export const SIZE_SHAPE = object({ cols: side, rows: side });
export type HolderSize = Infer<typeof SIZE_SHAPE>;

export const SIZE_AT_SHAPE = object({ offset: count, cols: side, rows: side });
export type HolderSizeAt = Infer<typeof SIZE_AT_SHAPE>;

/** Whose window determines the size: the one that attached or typed last, the smallest, or none. */
const SIZING_SHAPE = either(literal("latest", "smallest"), SIZE_SHAPE);
export type HolderSizing = Infer<typeof SIZING_SHAPE>;
export type Mode = Infer<typeof mode>;

export const HELLO_SHAPE = object({
  v: whole(1),
  token: text,
  /** Who numbers the input. A writer has one connection at a time, and keeps its name and count when it reconnects. */
  writer: textOf({ least: 1, most: 200 }),
  /** Output is wanted from this offset on; without it the connection is only for control. -1: from the end. */
  from: optional(whole(-1)),
  readOnly: optional(flag),
  size: optional(SIZE_SHAPE),
  /** From now on, for all windows; without it nothing changes. */
  sizing: optional(SIZING_SHAPE),
});
export type Hello = Infer<typeof HELLO_SHAPE>;

/** `exit.json`, and the payload of ENDED. */
export const EXIT_SHAPE = object({
  v: count,
  generation: count,
  code: nullable(count),
  signal: nullable(text),
  bootId: text,
  /** The tape's end once everything was on it. */
  offset: count,
  at: text,
  /** The holder was stopped and ended its child, as when the system shuts down. */
  stopped: optional(flag),
  /** It was given up before it could be started: nothing of it has run. */
  unstarted: optional(flag),
});
export type HolderExit = Infer<typeof EXIT_SHAPE>;

/** `claim.json`: written, synced and renamed into place before the command is executed; never written twice. */
export const CLAIM_SHAPE = object({
  v: count,
  generation: count,
  by: literal("holder", "cancel"),
  pid: count,
  startTime: count,
  bootId: text,
  at: text,
  /** Written by a recovery: the program was begun on this host, from which the home was taken over. */
  host: optional(text),
});
export type HolderClaim = Infer<typeof CLAIM_SHAPE>;

/** What the program asks its terminal, and no window answers: at which offset of the output, and in which words. */
const QUESTION_SHAPE = object({ n: count, offset: count, query: text });
export type HolderQuestion = Infer<typeof QUESTION_SHAPE>;

export const STATUS_SHAPE = object({
  v: count,
  generation: count,
  mode,
  /** The holder itself. */
  pid: count,
  child: nullable(object({ pid: count, startTime: count })),
  startedAt: text,
  tape: object({ start: count, end: count, gaps: count }),
  consumed: count,
  size: SIZE_SHAPE,
  clients: count,
  lastOutputAt: nullable(text),
  /** The highest input number taken from each writer. */
  writers: table(count),
  exit: nullable(EXIT_SHAPE),
  /** Why the tape cannot be written; null if it can. */
  trouble: nullable(text),
  /** Why the child could not be started yet; it is tried again. Only until it is started. */
  waiting: optional(text),
  /** It touches its socket when `clients` or `trouble` changes; older holders do not. */
  reports: optional(flag),
  /** Questions that wait for the screen program's answer. */
  asking: optional(list(QUESTION_SHAPE)),
});
export type HolderStatus = Infer<typeof STATUS_SHAPE>;

/** `holder.json`: what a holder is to do, written by the daemon before it starts one. 0600, because of the token and
 *  the environment. */
export const SPEC_SHAPE = object({
  v: count,
  id: text,
  generation: count,
  mode,
  argv: list(text, 1),
  cwd: text,
  env: table(text),
  size: SIZE_SHAPE,
  token: textOf({ least: 1 }),
  socket: text,
  tape: object({ segmentBytes: count, maxBytes: count }),
  /** Put on the tape before the command is executed: what happened to the generation before. */
  preface: optional(text),
  /** Typed into the command once it is ready for it; with a return at its end it is run. */
  typed: optional(text),
  /** What its program leaves behind is given to the holder, and stays below it: for agents (core/principal.ts). */
  adopts: optional(flag),
  /** No byte of this generation has an offset before it: a client has seen that much of a tape that lost its end. */
  startAt: optional(count),
});
export type HolderSpec = Infer<typeof SPEC_SHAPE>;

/** REFUSED: a refusal, and the number of the input if it is about one. */
export const REFUSAL_SHAPE = object({ code: text, message: text, hint: text, number: optional(count) });
export type HolderRefusal = Infer<typeof REFUSAL_SHAPE>;

/** SIGNAL: `{ signal: "SIGINT" }`. */
export const SIGNAL_SHAPE = object({ signal: textOf({ pattern: /^SIG[A-Z0-9+]{2,10}$/ }) });

const REPORT = new RegExp(`^${"\u001b"}\\[\\??[\\d;]+(?:R|\\$y)$`);

/** ANSWER: only what a terminal reports, of a cursor's position or a mode, is ever typed. */
export const ANSWER_SHAPE = object({
  generation: count,
  n: count,
  answer: textOf({ most: 64, pattern: REPORT }),
});
export type HolderAnswer = Infer<typeof ANSWER_SHAPE>;

/** ANSWERS: `{ answers: false }`. */
export const ANSWERS_SHAPE = object({ answers: flag });

export function jsonFrame(tag: number, value: unknown): Uint8Array {
  return encodeFrame(tag, new TextEncoder().encode(JSON.stringify(value)));
}

/** OUTPUT: u64 offset, bytes. */
export function outputFrame(offset: number, bytes: Uint8Array): Uint8Array {
  return encodeFrame(OUTPUT, u64(offset), bytes);
}

/** The length of what precedes the bytes of an OUTPUT frame. */
export const OUTPUT_HEAD = 13;

/** Makes an OUTPUT frame in place, of a buffer whose first OUTPUT_HEAD bytes are free and whose rest is the output. */
export function headOutput(frame: Uint8Array, offset: number): void {
  putOutputHead(frame, offset, frame.length - OUTPUT_HEAD);
}

/** The head alone, for bytes that are sent after it. */
export function outputHead(offset: number, length: number): Uint8Array {
  const head = new Uint8Array(OUTPUT_HEAD);
  putOutputHead(head, offset, length);
  return head;
}

function putOutputHead(into: Uint8Array, offset: number, length: number): void {
  putU32(into, 0, OUTPUT_HEAD - 4 + length);
  into[4] = OUTPUT;
  putU64(into, 5, offset);
}

/** INPUT: u64 number, u32 generation, bytes. */
export function inputFrame(number: number, generation: number, bytes: Uint8Array): Uint8Array {
  const head = new Uint8Array(12);
  putU64(head, 0, number);
  putU32(head, 8, generation);
  return encodeFrame(INPUT, head, bytes);
}

/** INPUT_TAKEN, CONSUMED, RESYNC: u64. */
export function numberFrame(tag: number, number: number): Uint8Array {
  return encodeFrame(tag, u64(number));
}

export type Numbered = { readonly number: number; readonly bytes: Uint8Array };

/** The u64 a payload begins with, and what follows it; undefined if it is too short. */
export function readNumber(payload: Uint8Array): Numbered | undefined {
  if (payload.length < 8) return undefined;
  const numbers = new DataView(payload.buffer, payload.byteOffset, 8);
  const number = numbers.getUint32(0) * 2 ** 32 + numbers.getUint32(4);
  return { number, bytes: payload.subarray(8) };
}

export type Input = { readonly number: number; readonly generation: number; readonly bytes: Uint8Array };

export function readInput(payload: Uint8Array): Input | undefined {
  const numbered = readNumber(payload);
  if (numbered === undefined || numbered.bytes.length < 4) return undefined;
  const { bytes } = numbered;
  const generation = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
  return { number: numbered.number, generation, bytes: bytes.subarray(4) };
}

function u64(number: number): Uint8Array {
  const bytes = new Uint8Array(8);
  putU64(bytes, 0, number);
  return bytes;
}

/** Our numbers are whole and safe: their upper half has 21 bits. */
function putU64(into: Uint8Array, at: number, number: number): void {
  putU32(into, at, Math.floor(number / 2 ** 32));
  putU32(into, at + 4, number);
}
