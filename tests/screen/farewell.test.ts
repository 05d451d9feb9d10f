// Between two lives of a terminal: everything the old program switched on is off, and nothing it showed is lost.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { plainRestoreBanner } from "../../src/core/terminal/screen.ts";
import { restoreBanner } from "../../src/screen/farewell.ts";
import { describe } from "../../src/vt/describe.ts";
import { Emulator } from "../../src/vt/emulator.ts";
import { EFFORT, output } from "./arbitrary.ts";

const size = { cols: 30, rows: 8 };
const ESC = "\u001b";

function ended(text: string | Uint8Array, message = "Restarted."): Emulator {
  const emulator = new Emulator(size, 0);
  emulator.feed(Buffer.from(text));
  emulator.feed(Buffer.from(restoreBanner(emulator, message)));
  return emulator;
}

const rows = (emulator: Emulator): string[] => {
  const buffer = emulator.xterm.normal;
  const all = Array.from({ length: buffer.lines.length }, (_, y) => buffer.lines.get(y));
  return all.map((line) =>
    Array.from({ length: size.cols }, (_, x) => line?.getString(x) || " ")
      .join("")
      .trimEnd(),
  );
};

const FRESH = describe(new Emulator(size, 0)).modes;

/** What is not as in a terminal that has just been started; titles may stay. */
const leftOn = (emulator: Emulator): string[] => {
  return describe(emulator).modes.filter((mode) => !FRESH.includes(mode) && !/^(titles|saved)=/.test(mode));
};

test("after a full-screen program its screen is on the normal one, with its colours, and a line says what happened", () => {
  const emulator = ended(
    `$ vim\r\n${ESC}[?1049h${ESC}[?1h${ESC}=${ESC}[?1002h${ESC}[?1006h${ESC}[?2004h${ESC}[2;6r${ESC}[?25l${ESC}[1;1H${ESC}[44mfile${ESC}[m\r\ntext${ESC}[8;1H-- INSERT --`,
  );
  expect(rows(emulator)).toEqual(["$ vim", "file", "text", "", "", "", "", "", "-- INSERT --", "Restarted.", ""]);
  expect(describe(emulator)).toMatchObject({ alternate: false, cursor: { x: 0, y: 7, visible: true } });
  expect(emulator.xterm.normal.lines.get(1)?.getBg(0)).toBe((1 << 24) | 4);
  expect(leftOn(emulator)).toEqual([]);
});

test("in a shell the line follows the old text, even if the prompt was not empty", () => {
  expect(rows(ended("$ make\r\nbuilding…\r\n$ hal")).slice(0, 5)).toEqual([
    "$ make",
    "building…",
    "$ hal",
    "Restarted.",
    "",
  ]);
  expect(rows(ended("")).slice(0, 2)).toEqual(["Restarted.", ""]);
  expect(rows(ended("a\r\nb\r\nc\u001b[H")).slice(0, 4)).toEqual(["a", "b", "c", "Restarted."]);
});

test("an unfinished sequence of the old program is cut off, and a message stays one line", () => {
  expect(rows(ended(`ok\r\n${ESC}]2;half a ti`)).slice(0, 2)).toEqual(["ok", "Restarted."]);
  expect(rows(ended(`ok\r\n${ESC}[3`)).slice(0, 2)).toEqual(["ok", "Restarted."]);
  expect(rows(ended(Buffer.from("ok\r\n…").subarray(0, 6))).slice(0, 2)).toEqual(["ok", "Restarted."]);
  expect(rows(ended("x", `a${ESC}[31m\r\nb`)).slice(0, 2)).toEqual(["x", "a [31m b"]);
});

test("a title that was only begun is not set", () => {
  expect(ended(`${ESC}]2;whole\u0007${ESC}]2;half a ti`).xterm.titles.title).toBe("whole");
});

test("every mode that was on is off afterwards, and the cursor is on an empty line", () => {
  fc.assert(
    fc.property(output, (text) => {
      const emulator = ended(text);
      expect(leftOn(emulator)).toEqual([]);
      const { active, normal } = emulator.xterm;
      expect(active).toBe(normal);
      expect(active.x).toBe(0);
      expect(rows(emulator)[active.ybase + active.y]).toBe("");
      expect(rows(emulator).join("\n")).toContain("Restarted.");
    }),
    EFFORT,
  );
});

test("if the screen is unknown, the same is done without it", () => {
  fc.assert(
    fc.property(output, (text) => {
      const emulator = new Emulator(size, 0);
      emulator.feed(Buffer.from(text + plainRestoreBanner("Restarted.")));
      expect(leftOn(emulator).filter((mode) => !/^(extras|tabs)=/.test(mode))).toEqual([]);
      expect(emulator.xterm.active).toBe(emulator.xterm.normal);
      expect(rows(emulator).at(-2)).toBe("Restarted.");
    }),
    EFFORT,
  );
});
