import { expect, test } from "bun:test";
import fc from "fast-check";
import { PROFILE } from "../../tests/sim/fuzz/profile.ts";
import { Xterm } from "../world/xterm.ts";
import { GROUND, wholeLength } from "./boundary.ts";

/** Mostly bytes that matter: escapes, parameters, ends of strings, and halves of characters. */
const byte = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0x1b, 0x5b, 0x5d, 0x50, 0x5e, 0x58, 0x5c, 0x07, 0x18, 0x1a) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      0xc2,
      0x9b,
      0x9c,
      0x9d,
      0x90,
      0x84,
      0xe2,
      0x80,
      0xa6,
      0xf0,
      0x9f,
      0x98,
      0xef,
      0xbb,
      0xbf,
    ),
  },
  { weight: 2, arbitrary: fc.integer({ min: 0x20, max: 0x7f }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }) },
);

test("a piece ends where the emulator's own parser says so", () => {
  const xterm = new Xterm({ cols: 10, rows: 3 }, 0);
  const table = xterm.transitions;
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.array(byte, { maxLength: 40 }), (noise, some) => {
      const bytes = Uint8Array.from([...noise, ...some]);
      const { length, decoded, state } = wholeLength(bytes, table);
      const fresh = new Xterm({ cols: 10, rows: 3 }, 0);
      fresh.write(bytes.subarray(0, length));
      expect(fresh.parserState).toBe(GROUND);
      fresh.write(bytes.subarray(length, decoded));
      expect(fresh.parserState).toBe(state);
      fresh.dispose();
      // No later position would do: at each of them the parser is within a piece or a character.
      for (let at = length + 1; at <= decoded; at += 1) {
        const other = wholeLength(bytes.subarray(0, at), table);
        expect(other.length).toBe(length);
      }
    }),
    { numRuns: 2000, seed: PROFILE.seed },
  );
});

test("what is cut in the middle is held back: characters, sequences, strings", () => {
  const { transitions } = new Xterm({ cols: 10, rows: 3 }, 0);
  const whole = (text: string | Uint8Array) =>
    wholeLength(typeof text === "string" ? Buffer.from(text) : text, transitions);
  expect(whole("abc").length).toBe(3);
  expect(whole("abc\u001b").length).toBe(3);
  expect(whole("abc\u001b[3").length).toBe(3);
  expect(whole("abc\u001b[31m").length).toBe(8);
  expect(whole("a\u001b]2;title").length).toBe(1);
  expect(whole("a\u001b]2;title\u001b").length).toBe(1);
  expect(whole("a\u001b]2;title\u001b\\").length).toBe(12);
  expect(whole("a\u001b\u001b\u001b").length).toBe(1);
  expect(whole(Buffer.from("a…").subarray(0, 3)).length).toBe(1);
  expect(whole("a\u001b[3\ufeff").length).toBe(1); // B2: the decoder skips a byte order mark.
  expect(whole(Buffer.from("a\u001b[1m😀").subarray(0, 7)).length).toBe(5);
});
