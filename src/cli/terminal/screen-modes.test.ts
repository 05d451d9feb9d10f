import { expect, test } from "bun:test";
import { ScreenModes } from "./screen-modes.ts";

const ESC = "\u001b";
const ALWAYS = `${ESC}[0m${ESC}(B\u000f`;

function after(text: string, size = text.length): ScreenModes {
  const modes = new ScreenModes();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += Math.max(1, size)) modes.push(bytes.subarray(at, at + size));
  return modes;
}

test("MO1 modes that were never changed are not reset", () => {
  expect(after("plain text\r\n").restore()).toBe(ALWAYS);
  expect(after(`${ESC}[?1049h${ESC}[?1049l${ESC}[?25l${ESC}[?25h${ESC}[?2004h${ESC}[?2004l`).restore()).toBe(ALWAYS);
});

test("mouse, alternate screen, bracketed paste and a hidden cursor are undone, however the output was split", () => {
  const text = `x${ESC}[?1049h${ESC}[?1002;1006h${ESC}[?2004h${ESC}[?25ly`;
  for (let size = 1; size <= text.length; size += 1) {
    const modes = after(text, size);
    expect(modes.alternate).toBe(true);
    expect(modes.restore()).toBe(`${ESC}[?2004l${ESC}[?1049l${ESC}[?1006l${ESC}[?1002l${ESC}[?25h${ALWAYS}`);
  }
});

test("keyboard protocols, keypad, cursor shape, insert mode and scroll region are undone too", () => {
  const { length } = after(`${ESC}[>1u${ESC}[>3u${ESC}[<u`).restore();
  expect(length).toBe(`${ESC}[<1u`.length + ALWAYS.length);
  const restored = after(`${ESC}=${ESC}[>4;2m${ESC}[4 q${ESC}[4h${ESC}[2;10r`).restore();
  for (const undo of [`${ESC}>`, `${ESC}[>4;0m`, `${ESC}[0 q`, `${ESC}[4l`, `${ESC}7${ESC}[r${ESC}8`]) {
    expect(restored).toContain(undo);
  }
});

test("changed window colours are reset, however the output was split; a query changes none", () => {
  const text =
    "\u001b]11;#001122\u0007\u001b]10;rgb:ff/ff/ff\u001b\\\u001b]12;?\u0007\u001b]12;red\u0007\u001b]112\u0007\u001b]110;\u001b[1mx";
  for (let cut = 0; cut <= text.length; cut += 1) {
    const modes = new ScreenModes();
    for (const part of [text.slice(0, cut), text.slice(cut)]) modes.push(Buffer.from(part));
    expect({ cut, restore: modes.restore() }).toEqual({ cut, restore: "\u001b]111\u001b\\\u001b[0m\u001b(B\u000f" });
  }
});

test("titles that a program has saved and not taken back are taken back, as many as there are", () => {
  const pop = `${ESC}[23;0t`;
  expect(after(`${ESC}[22;0t${ESC}[22;2t${ESC}[22t${ESC}[23;2t${ESC}[14t`).restore()).toBe(`${pop}${pop}${ALWAYS}`);
  expect(after(`${ESC}[23;0t${ESC}[22;0;0t${ESC}[23;0;0t`).restore()).toBe(ALWAYS);
});

test("a program that resets the terminal leaves nothing to undo", () => {
  expect(after(`${ESC}[?1049h${ESC}[?1000h${ESC}=${ESC}c`).restore()).toBe(ALWAYS);
});
