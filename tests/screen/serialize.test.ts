// What a kept screen has, one thing at a time; the properties in exact.test.ts have them all at once.
import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import { answer } from "../../src/screen/answer.ts";
import { LiveScreens } from "../../src/screen/live.ts";
import { describe } from "../../src/vt/describe.ts";
import { Emulator } from "../../src/vt/emulator.ts";
import { serialize, serialized } from "../../src/vt/serialize.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { everything, restored } from "./compare.ts";

const ESC = "\u001b";
const size = { cols: 80, rows: 24 };

function shown(text: string, within = size): Emulator {
  const emulator = new Emulator(within, 0);
  emulator.feed(Buffer.from(text));
  return emulator;
}

test("TC-1(b) scrollback takes at most 10 KB by default, and the visible screen is always complete", () => {
  const lines = Array.from(
    { length: 900 },
    (_, n) => `${ESC}[3${n % 8}mline ${n} of many, and a few more words in it${ESC}[m`,
  );
  const emulator = shown(lines.join("\r\n"));
  const [none, some, much] = [0, undefined, 200_000].map((most) => serialize(emulator, most));
  const bytes = (text = "") => Buffer.byteLength(text) - Buffer.byteLength(none ?? "");
  expect(bytes(some)).toBeGreaterThan(9 << 10);
  expect(bytes(some)).toBeLessThanOrEqual(10 << 10);
  expect(bytes(much)).toBeGreaterThan(40_000);
  for (const text of [none, some, much]) {
    const fresh = new Emulator(size, 0);
    fresh.xterm.write(text ?? "");
    expect(everything(fresh, 0)).toEqual(everything(emulator, 0));
  }
});

const EACH = [
  ...[1, 6, 9, 12, 45, 66, 1000, 1002, 1003, 1004, 1006, 1007, 1016, 1047, 1049, 2004, 2026, 2031].map(
    (mode) => `${ESC}[?${mode}h`,
  ),
  ...[7, 8, 25].map((mode) => `${ESC}[?${mode}l`),
  ...[1, 2, 3, 4, 5, 6].map((style) => `${ESC}[${style} q`),
  ...["1", "2", "3", "4", "4:2", "4:3", "4:4", "4:5", "5", "7", "8", "9", "53", "33", "93", "43", "103"].map(
    (n) => `${ESC}[${n}m`,
  ),
  ...["38;5;200", "48;5;17", "38;2;1;2;3", "48;2;4;5;6", "4;58:2::7:8:9", "4;58:5:77", "58:5:3"].map(
    (n) => `${ESC}[${n}m`,
  ),
  ...[`${ESC}[4h`, `${ESC}[20h`, `${ESC}=`, `${ESC}[3;9r`, `${ESC}[3;9r${ESC}[?6h${ESC}[2;2H`, `${ESC}[1"q`],
  ...[
    `${ESC}[5;6H${ESC}7${ESC}[H`,
    `${ESC}[31m${ESC}7${ESC}[m`,
    `${ESC}(0${ESC}7${ESC}(B`,
    `${ESC}[?1049h${ESC}[3;3H${ESC}7${ESC}[?1049l`,
  ],
  ...[`${ESC}(0`, `${ESC})0\u000e`, `${ESC}*A${ESC}n`, `${ESC}+K${ESC}o`, `${ESC}(0${ESC}7${ESC}(B${ESC}8`],
  ...[
    `${ESC}[3g${ESC}[5G${ESC}H`,
    `${ESC}]2;title\u0007`,
    `${ESC}]1;icon\u0007`,
    `${ESC}]2;a\u0007${ESC}[22;0t${ESC}]2;b\u0007`,
  ],
  ...[`${ESC}[>1u`, `${ESC}[>1u${ESC}[>5u`, `${ESC}[>4;2m`, `${ESC}]10;#112233\u0007`, `${ESC}]8;;http://a\u0007`],
];

test("each mode by itself is the same afterwards, and does the same", () => {
  for (const sequence of EACH) {
    const emulator = shown(`before ${sequence}x`);
    const other = restored(emulator);
    expect({ sequence, ...everything(other) }).toEqual({ sequence, ...everything(emulator) });
    const more = `qx${"w".repeat(90)}\r\n\tt${ESC}[2;2Hy${ESC}8z${ESC}[?1049lq${ESC}[23;0t`;
    for (const each of [emulator, other]) each.feed(Buffer.from(more));
    expect({ sequence, ...everything(other) }).toEqual({ sequence, ...everything(emulator) });
  }
});

test("the last character is repeated or joined only if it was the last output of all", () => {
  const line = "z".repeat(size.cols);
  for (const before of [
    `${line}`,
    `${line}${ESC}[?25l`,
    `${line}${ESC}[4h`,
    "漢",
    "e",
    `${ESC}[31me${ESC}[m`,
    `ab${ESC}[4h`,
  ]) {
    for (const after of [`${ESC}[3b`, "\u0301"]) {
      const emulator = shown(before);
      const other = restored(emulator);
      for (const each of [emulator, other]) each.feed(Buffer.from(after));
      expect({ before, after, ...everything(other) }).toEqual({ before, after, ...everything(emulator) });
    }
  }
});

test("a line that wraps into the next row still does, even if its last column was erased", () => {
  const emulator = shown(`${"x".repeat(200)}\r\n${"y".repeat(80)}${ESC}[41m ${ESC}[m`);
  expect(everything(restored(emulator))).toEqual(everything(emulator));
  const erased = shown(`${"x".repeat(100)}${ESC}[1;80H${ESC}[X${ESC}[3;1H`);
  expect(everything(restored(erased))).toEqual(everything(erased));
  const wide = shown(`${ESC}[42m${"x".repeat(79)}漢字${ESC}[m\r\n`);
  expect(everything(restored(wide))).toEqual(everything(wide));
});

test("the alternate screen has its own colours, and the normal one behind it is there when it is left", () => {
  const emulator = shown(`${ESC}[44mblue prompt ${ESC}7${ESC}[?1049h${ESC}[41mred${ESC}[m`);
  const other = restored(emulator);
  expect(everything(other)).toEqual(everything(emulator));
  for (const each of [emulator, other]) each.feed(Buffer.from(`${ESC}[?1049lback`));
  expect(everything(other)).toEqual(everything(emulator));
});

test("a line that is full stays full: the next character begins a new one", () => {
  const emulator = shown(`${"z".repeat(80)}`);
  const other = restored(emulator);
  other.feed(Buffer.from("!"));
  expect(other.xterm.active.lines.get(1)?.getString(0)).toBe("!");
});

test("everything up to the end of the last line can be erased, which the emulator alone does not survive", () => {
  const emulator = shown(`a\r\nb\r\nc${ESC}[24;80H${ESC}[1J`);
  expect(serialize(emulator)).toBe(`${"\r\n".repeat(23)}${ESC}[24;80H`);
});

test("an image or another string of any length goes by, and leaves the screen as it is", () => {
  const emulator = shown(`a${ESC}P1;2q${"#0~-".repeat(100_000)}${ESC}\\b${ESC}_G${"x".repeat(90_000)}${ESC}\\c`);
  expect(emulator.xterm.active.lines.get(0)?.getString(2)).toBe("c");
  expect(emulator.unfinished).toBe(false);
});

test("a disk that cannot be read, or an emulator that breaks, is that request's refusal", async () => {
  const clock = realClock();
  const ask = { directory: "/nowhere", size, op: "cells" } as const;
  const onBug = (error: Error) => ({
    ...realDisk(),
    list: () => {
      throw error;
    },
  });
  const fault = new Fault({ code: "EIO", operation: "list", path: "/nowhere" });
  expect(await answer(new LiveScreens({ disk: onBug(fault), clock }), clock, ask)).toMatchObject({
    ok: false,
    error: { code: "screen.unreadable" },
  });
  expect(
    await answer(new LiveScreens({ disk: onBug(new TypeError("no such line")), clock }), clock, ask),
  ).toMatchObject({
    ok: false,
    error: { code: "screen.failed" },
  });
});

test("the visible screen is available without its scrollback", () => {
  for (const last of ["plain", "\u001b[?1049h\u001b[5;5H\u001b[31mother", `${"wrapped ".repeat(40)}`]) {
    const emulator = new Emulator({ cols: 30, rows: 6 }, 0);
    emulator.feed(Buffer.from(`${Array.from({ length: 50 }, (_, n) => `line ${n}\r\n`).join("")}${last}`));
    const { vt, behind } = serialized(emulator, 10_000);
    expect(vt.slice(0, behind)).toContain("line 3\r\n");
    const alone = new Emulator({ cols: 30, rows: 6 }, 0);
    alone.feed(Buffer.from(vt.slice(behind)));
    expect(describe(alone).lines).toEqual(describe(emulator).lines);
    expect(describe(alone)).toMatchObject({ cursor: describe(emulator).cursor, behind: 0 });
  }
});
