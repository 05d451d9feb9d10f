import { expect, test } from "bun:test";
import { WIDTHS } from "./widths.ts";
import { Xterm } from "./xterm.ts";

test("characters are as wide as today's terminals show them", () => {
  const widths = [..."a~é漢가ｗ😀⌚│…✻"].map((ch) => [ch, WIDTHS.wcwidth(ch.codePointAt(0) ?? 0)]);
  const wide = ["漢", "가", "ｗ", "😀", "⌚"];
  expect(widths).toEqual([..."a~é漢가ｗ😀⌚│…✻"].map((ch) => [ch, wide.includes(ch) ? 2 : 1]));
  expect([0x301, 0x200d, 0xfe0f].map((code) => WIDTHS.wcwidth(code))).toEqual([0, 0, 0]);
  expect(WIDTHS.wcwidth(0xad)).toBe(1);
});

test("the emulator uses these widths, and combining characters join", () => {
  const xterm = new Xterm({ cols: 10, rows: 2 }, 0);
  xterm.write("😀xe\u0301y");
  const line = xterm.active.lines.get(0);
  expect([0, 2, 3, 4].map((x) => line?.getString(x))).toEqual(["😀", "x", "e\u0301", "y"]);
});
