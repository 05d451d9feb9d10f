// The moments of a tape's segment as bytes (docs/decisions/0036-times-of-a-tape.md). Each is a number with twice the
// distance from the last offset, plus one if the time is in full; the time, in full or since the last one; and two
// bytes of checksum. Numbers have seven bits in a byte, the lowest first.
// MO1. The checksum is over the file's offset and all moments so far. What follows a torn or damaged one is not read.
// MO2. Offsets never go back. Time does, if the clock was set back: then it is in full.
import { crc32 } from "../../world/hash.ts";

/** The byte at `offset` came at `time`, in milliseconds since the epoch. */
export type Moment = { readonly offset: number; readonly time: number };

/** What is known after the moments so far: the file's length, the checksum, and the last of them. */
export type MomentState = {
  readonly start: number;
  readonly size: number;
  readonly sum: number;
  readonly last: Moment | undefined;
};

const CHECK_BYTES = 2;

/** Of a file for the segment that begins at `start`. */
export function noMoments(start: number): MomentState {
  return { start, size: 0, sum: crc32(String(start)), last: undefined };
}

export function encodeMoment({ offset, time }: Moment, { last, sum, start }: MomentState): Uint8Array {
  const isFull = last === undefined || time < last.time; // MO2
  const step = varint((offset - (last?.offset ?? start)) * 2 + Number(isFull));
  const body = [...step, ...varint(isFull ? time : time - last.time)];
  const check = crc32(Uint8Array.from(body), sum);
  return Uint8Array.from([...body, check & 0xff, (check >> 8) & 0xff]);
}

/** The state after a moment and its bytes. */
export function withMoment(state: MomentState, last: Moment, bytes: Uint8Array): MomentState {
  const sum = crc32(bytes.subarray(0, -CHECK_BYTES), state.sum);
  return { start: state.start, size: state.size + bytes.length, sum, last };
}

/** The moments before the offset `end` that are whole and unharmed (MO1). */
export function decodeMoments(
  bytes: Uint8Array,
  start: number,
  end: number,
): { readonly moments: readonly Moment[]; readonly state: MomentState } {
  const moments: Moment[] = [];
  let state = noMoments(start);
  for (;;) {
    const next = nextMoment(bytes, state);
    if (next?.last === undefined || next.last.offset >= end) return { moments, state };
    moments.push(next.last);
    state = next;
  }
}

function nextMoment(bytes: Uint8Array, state: MomentState): MomentState | undefined {
  const { size, last, start } = state;
  const step = readVarint(bytes, size);
  const time = step && readVarint(bytes, step.next);
  if (step === undefined || time === undefined) return undefined;
  const isFull = step.value % 2 === 1;
  const offset = (last?.offset ?? start) + Math.floor(step.value / 2);
  const moment = { offset, time: isFull ? time.value : (last?.time ?? 0) + time.value };
  const known = withMoment(state, moment, bytes.subarray(size, time.next + CHECK_BYTES));
  const [low = -1, high = -1] = bytes.subarray(time.next);
  return (isFull || last !== undefined) && (known.sum & 0xffff) === low + high * 256 ? known : undefined; // MO1
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

/** As many as a safe integer takes. */
const MAX_VARINT = 8;

function readVarint(bytes: Uint8Array, at: number): { readonly value: number; readonly next: number } | undefined {
  let value = 0;
  for (let index = 0; index < MAX_VARINT; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    value += (byte % 128) * 128 ** index;
    if (byte < 128) return Number.isSafeInteger(value) ? { value, next: at + index + 1 } : undefined;
  }
  return undefined;
}
