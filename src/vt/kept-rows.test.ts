import { expect, test } from "bun:test";
import { Emulator } from "./emulator.ts";
import { keptRow } from "./kept-rows.ts";

function firstRow(emulator: Emulator) {
  const { normal } = emulator.xterm;
  const line = normal.lines.get(0);
  if (line === undefined) throw new Error("an emulator has lines");
  return keptRow(line, (link) => emulator.xterm.link(link));
}

function rowsAfter(...pieces: readonly string[]) {
  const emulator = new Emulator({ cols: 20, rows: 3 }, 0);
  return pieces.map((piece) => {
    emulator.feed(Buffer.from(piece));
    return firstRow(emulator);
  });
}

test("an unchanged row is not made again", () => {
  const [first, second] = rowsAfter("hello", "\r\nelsewhere");
  expect(first).toBeDefined();
  expect(second).toBe(first);
});

test.each([
  ["a character", "hello", "\rj"],
  ["a blank after its text", "hello", "\u001b[10Gx"],
  ["a combining character", "e\u0301", "\re\u0300"],
  ["the style of an underline", "\u001b[4:3mx", "\r\u001b[4:4mx"],
  ["the target of a link", "\u001b]8;;http://a\u001b\\x", "\r\u001b]8;;http://b\u001b\\x"],
])("K1 a row is made again if all that changed is %s", (_, before, after) => {
  const [first, second] = rowsAfter(before, after);
  expect(second?.text).not.toBe(first?.text ?? "");
});
