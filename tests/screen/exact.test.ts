// A kept screen and the bytes since give the screen that was never kept.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { Emulator } from "../../src/vt/emulator.ts";
import { serialize } from "../../src/vt/serialize.ts";
import { EFFORT, output } from "./arbitrary.ts";
import { EVERYTHING, everything, restored } from "./compare.ts";

test("restored from any cut, and given the rest, a screen is as if it had never been cut", () => {
  fc.assert(
    fc.property(output, fc.double({ min: 0, max: 1, noNaN: true }), (text, where) => {
      const bytes = Buffer.from(text);
      const cut = Math.floor(where * bytes.length);
      const size = { cols: 12, rows: 5 };
      const first = new Emulator(size, 0);
      first.feed(bytes.subarray(0, cut));
      fc.pre(!isFullOfNothing(first));
      const second = restored(first);
      expect(everything(second)).toEqual(everything(first));
      second.feed(bytes.subarray(first.offset));
      first.feed(bytes.subarray(cut));
      expect(everything(second)).toEqual(everything(first));
      first.dispose();
      second.dispose();
    }),
    EFFORT,
  );
});

test("a screen that was written out often, and resized in between, is written out as if it were the first time", () => {
  const side = fc.integer({ min: 2, max: 14 });
  const step = fc.record({ text: output, size: fc.option(fc.record({ cols: side, rows: side }), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), (steps) => {
      const often = new Emulator({ cols: 12, rows: 5 }, 0);
      const once = new Emulator({ cols: 12, rows: 5 }, 0);
      for (const { text, size } of steps) {
        for (const emulator of [often, once]) {
          emulator.feed(Buffer.from(text));
          if (size !== undefined) emulator.resize(size);
        }
        serialize(often, EVERYTHING);
      }
      expect(serialize(often, EVERYTHING)).toBe(serialize(once, EVERYTHING));
      often.dispose();
      once.dispose();
    }),
    EFFORT,
  );
});

/**
 * A line can be full although its last column was erased since. No sequence reproduces that: a space is written
 * instead.
 */
function isFullOfNothing({ xterm: { active, cols } }: Emulator): boolean {
  const line = active.lines.get(active.ybase + active.y);
  return active.x === cols && line?.hasContent(cols - 1) === 0 && line.getWidth(cols - 1) !== 0;
}
