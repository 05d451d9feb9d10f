// What is said between a holder and its clients (the daemon, `attach`, the web host), version 1, frozen: a newer version must adopt
// holders that an older one started. Frames as in frames.ts; control in JSON, bytes as they are.
// H1. The first frame of a client is HELLO with the holder's token; anything else closes the connection.
// H2. Unknown tags and unknown JSON fields are passed over; known ones keep their meaning for ever.
// H3. Input is numbered by its writer from 1 without gaps and names the generation: a repeat is dropped and confirmed again, a
//     gap or another generation is refused. What was confirmed was handed to the child once.
// H4. Output carries the absolute offset of its first byte on the tape. Between two OUTPUT frames nothing is left out without a RESYNC.
import { encodeFrame } from "./frames.ts";

export const PROTOCOL = 1;

/** From a client. */
export const HELLO = 1;
export const INPUT = 2;
export const RESIZE = 3;
export const SIGNAL = 4;
export const STATUS = 5;
/** Pipe mode: everything before this offset is safe with the daemon, and may leave the holder's memory and hold back no more. */
export const CONSUMED = 6;
/** Pipe mode: the child's input ends. */
export const END_INPUT = 7;
/** From the holder. */
export const WELCOME = 64;
export const OUTPUT = 65;
export const INPUT_TAKEN = 66;
export const STATUS_IS = 67;
export const ENDED = 68;
/** The client was too slow: what comes next begins at this offset, and it should draw the screen anew. */
export const RESYNC = 69;
export const REFUSED = 70;

export type Mode = "pty" | "pipe";
export type HolderSize = { readonly cols: number; readonly rows: number };

export type Hello = {
  readonly v: number;
  readonly token: string;
  /** Who numbers the input. One connection at a time for each writer; a reconnecting writer keeps its name and goes on counting. */
  readonly writer: string;
  /** Output is wanted from this offset on; without it the connection is only for control. -1: from the end. */
  readonly from?: number;
  readonly readOnly?: boolean;
  readonly size?: HolderSize;
};

/** `exit.json`, and the payload of ENDED. */
export type HolderExit = {
  readonly v: number;
  readonly generation: number;
  readonly code: number | null;
  readonly signal: string | null;
  readonly bootId: string;
  /** The tape's end when everything was on it. */
  readonly offset: number;
  readonly at: string;
  /** The holder was told to leave, and ended its child: as the system does with everybody when it goes down. */
  readonly stopped?: boolean;
};

/** `claim.json`: written, synced and named before the command is executed; never written twice. */
export type HolderClaim = {
  readonly v: number;
  readonly generation: number;
  readonly by: "holder" | "cancel";
  readonly pid: number;
  readonly startTime: number;
  readonly bootId: string;
  readonly at: string;
};

export type HolderStatus = {
  readonly v: number;
  readonly generation: number;
  readonly mode: Mode;
  /** The holder itself. */
  readonly pid: number;
  readonly child: { readonly pid: number; readonly startTime: number } | null;
  readonly startedAt: string;
  readonly tape: { readonly start: number; readonly end: number; readonly gaps: number };
  readonly consumed: number;
  readonly size: HolderSize;
  readonly clients: number;
  readonly lastOutputAt: string | null;
  /** The highest input number taken from each writer. */
  readonly writers: Readonly<Record<string, number>>;
  readonly exit: HolderExit | null;
  /** Why the tape cannot be written, where it cannot. */
  readonly trouble: string | null;
};

/** `holder.json`: what a holder is told to do, written by the daemon before it starts one. 0600, because of the token and the environment. */
export type HolderSpec = {
  readonly v: number;
  readonly id: string;
  readonly generation: number;
  readonly mode: Mode;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: HolderSize;
  readonly token: string;
  readonly socket: string;
  readonly tape: { readonly segmentBytes: number; readonly maxBytes: number };
  /** Put on the tape before the command is executed: what happened to the generation before. */
  readonly preface?: string;
  /** Typed into the command once it is ready for it; with a return at its end it is run. */
  readonly typed?: string;
  /** No byte of this generation has an offset before it: somebody has seen that far of a tape that lost its end. */
  readonly startAt?: number;
};

export function jsonFrame(tag: number, value: unknown): Uint8Array {
  return encodeFrame(tag, Buffer.from(JSON.stringify(value)));
}

/** OUTPUT: u64 offset, bytes. */
export function outputFrame(offset: number, bytes: Uint8Array): Uint8Array {
  return encodeFrame(OUTPUT, u64(offset), bytes);
}

/** What stands before the bytes of an OUTPUT frame. */
export const OUTPUT_HEAD = 13;

/** Makes an OUTPUT frame of a buffer whose first OUTPUT_HEAD bytes are free and whose rest is the output: nothing is copied. */
export function headOutput(frame: Buffer, offset: number): void {
  putOutputHead(frame, offset, frame.length - OUTPUT_HEAD);
}

/** The head alone, for bytes that are sent behind it. */
export function outputHead(offset: number, length: number): Uint8Array {
  const head = Buffer.allocUnsafe(OUTPUT_HEAD);
  putOutputHead(head, offset, length);
  return head;
}

function putOutputHead(into: Buffer, offset: number, length: number): void {
  into.writeUInt32BE(OUTPUT_HEAD - 4 + length, 0);
  into[4] = OUTPUT;
  into.writeBigUInt64BE(BigInt(offset), 5);
}

/** INPUT: u64 number, u32 generation, bytes. */
export function inputFrame(number: number, generation: number, bytes: Uint8Array): Uint8Array {
  const head = Buffer.alloc(12);
  head.writeBigUInt64BE(BigInt(number));
  head.writeUInt32BE(generation, 8);
  return encodeFrame(INPUT, head, bytes);
}

/** INPUT_TAKEN, CONSUMED, RESYNC: u64. */
export function numberFrame(tag: number, number: number): Uint8Array {
  return encodeFrame(tag, u64(number));
}

export type Numbered = { readonly number: number; readonly bytes: Uint8Array };

/** The u64 a payload begins with, and what follows it; undefined where it is too short. */
export function readNumber(payload: Uint8Array): Numbered | undefined {
  if (payload.length < 8) return undefined;
  const number = Number(Buffer.from(payload.buffer, payload.byteOffset, 8).readBigUInt64BE());
  return { number, bytes: payload.subarray(8) };
}

export type Input = { readonly number: number; readonly generation: number; readonly bytes: Uint8Array };

export function readInput(payload: Uint8Array): Input | undefined {
  const numbered = readNumber(payload);
  if (numbered === undefined || numbered.bytes.length < 4) return undefined;
  const { bytes } = numbered;
  const generation = Buffer.from(bytes.buffer, bytes.byteOffset, 4).readUInt32BE();
  return { number: numbered.number, generation, bytes: bytes.subarray(4) };
}

function u64(number: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(number));
  return bytes;
}
