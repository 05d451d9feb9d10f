// Finds where whole pieces end: characters or escape sequences. Pure, based on the emulator's own table.
// B1. The result is the same as parsing everything from the start: an ESC means the same in every state, so the scan
//     may begin at the last one, and goes further back only if the piece before it was not finished.
// B2. Bytes that the emulator's decoder skips change nothing here either.

const ESC = 0x1b;
export const GROUND = 0;
const ESCAPE = 1;
const STATE_MASK = 15;
const STATE_SHIFT = 8;
/** The table has one column for every character beyond the control characters. */
const PRINTABLE = 0xa0;
const BEYOND_ASCII = 0x80;
const BOM = 0xfeff;

export type Transitions = ArrayLike<number>;

/** How many of the bytes are whole pieces; how many are whole characters, and the parser's state there. */
export type Whole = { readonly length: number; readonly decoded: number; readonly state: number };

/** Parsing begins in `state`. */
export function wholeLength(bytes: Uint8Array, transitions: Transitions, state: number = GROUND): Whole {
  let end: Scan | undefined;
  for (let stop = bytes.length; ; ) {
    const esc = stop === 0 ? -1 : bytes.lastIndexOf(ESC, stop - 1);
    const scan = esc < 0 ? scanned(bytes, transitions, { at: 0, stop, state }) : begunAt(bytes, transitions, esc, stop);
    end ??= scan;
    if (scan.ground !== undefined) return { length: scan.ground, decoded: end.at, state: end.state }; // B1
    if (esc < 0) return { length: 0, decoded: end.at, state: end.state };
    stop = esc;
  }
}

type Scan = { readonly ground: number | undefined; readonly at: number; readonly state: number };

/** After the ESC at `esc` the state is known, whatever it was before. */
function begunAt(bytes: Uint8Array, transitions: Transitions, esc: number, stop: number): Scan {
  return scanned(bytes, transitions, { at: esc + 1, stop, state: ESCAPE });
}

/** From `at` to `stop`: the last position between two pieces, and the parser's state at the end. */
function scanned(bytes: Uint8Array, transitions: Transitions, from: { at: number; stop: number; state: number }): Scan {
  let { at, state } = from;
  let ground = state === GROUND ? at : undefined;
  while (at < from.stop) {
    if (state === GROUND && (bytes[at] ?? 0) < BEYOND_ASCII) {
      at += 1; // Only an ESC begins a sequence here, and there is none before `stop`.
      ground = at;
      continue;
    }
    const { code, length } = decoded(bytes, at);
    if (length === 0) break; // The character is incomplete.
    at += length;
    if (code !== SKIPPED) state = follow(transitions, state, code);
    if (state === GROUND) ground = at;
  }
  return { ground, at, state };
}

function follow(transitions: Transitions, state: number, code: number): number {
  if (code === ESC) return ESCAPE; // B1
  return (transitions[(state << STATE_SHIFT) | Math.min(code, PRINTABLE)] ?? 0) & STATE_MASK;
}

const SKIPPED = -1;
const INCOMPLETE = { code: SKIPPED, length: 0 };
const SKIP_ONE = { code: SKIPPED, length: 1 };

/** One character as the emulator's decoder sees it (B2). */
function decoded(bytes: Uint8Array, at: number): { readonly code: number; readonly length: number } {
  const first = bytes[at] ?? 0;
  if (first < BEYOND_ASCII) return { code: first, length: 1 };
  const length = lengthBy(first);
  if (length === 0) return SKIP_ONE;
  let code = first & (0xff >> (length + 1));
  for (let index = 1; index < length; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return INCOMPLETE;
    if ((byte & 0xc0) !== BEYOND_ASCII) return { code: SKIPPED, length: index };
    code = (code << 6) | (byte & 0x3f);
  }
  return { code: isLegal(code, length) ? code : SKIPPED, length };
}

/** The length by the first byte; 0 if no character begins with it. */
function lengthBy(first: number): number {
  if (first < 0xc0 || first >= 0xf8) return 0;
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}

function isLegal(code: number, length: number): boolean {
  if (length === 2) return code >= 0x80;
  if (length === 3) return code >= 0x800 && !(code >= 0xd800 && code <= 0xdfff) && code !== BOM;
  return code >= 0x10000 && code <= 0x10ffff;
}
