import { expect, test } from "bun:test";
import { describe } from "./describe.ts";
import { Emulator } from "./emulator.ts";
import { Viewport } from "./viewport.ts";

const CSI = "\u001b[";
const WINDOW = { cols: 10, rows: 4 };

/** A terminal of 20 × 8 that has got `text`, and a window of another size that shows it. */
function shown(text: string, window = WINDOW) {
  const [terminal, view] = [new Emulator({ cols: 20, rows: 8 }, 0), new Emulator(window, 0)];
  const viewport = new Viewport();
  const show = (more: string) => {
    terminal.feed(Buffer.from(more));
    const frame = viewport.frame(terminal, window);
    view.feed(Buffer.from(frame));
    return frame;
  };
  show(text);
  return { show, rows: () => rowsOf(view), screen: () => describe(view), viewport, terminal };
}

const rowsOf = (emulator: Emulator) =>
  describe(emulator).lines.map((row) =>
    row
      .map(({ ch, width }) => (width === 0 ? "" : ch || " "))
      .join("")
      .trimEnd(),
  );

const ROWS = ["0123456789abcdefghij", "1one", "2two", "3three", "4four", "5five", "6six", "7 last row"].join("\r\n");

test("VP1 it contains the cursor, and moves no more than needed for that", () => {
  const { show, rows, screen } = shown(ROWS);
  expect([rows(), screen().cursor]).toEqual([["four", "five", "six", " last row"], { x: 9, y: 3, visible: true }]);
  show(`${CSI}6;3H`);
  expect([rows(), screen().cursor]).toEqual([["four", "five", "six", " last row"], { x: 1, y: 1, visible: true }]);
  show(`${CSI}2;1H`);
  expect([rows(), screen().cursor]).toEqual([["1one", "2two", "3three", "4four"], { x: 0, y: 0, visible: true }]);
  show(`${CSI}1;15H${CSI}?25l`);
  expect([rows(), screen().cursor]).toEqual([["56789abcde", "", "", "e"], { x: 9, y: 0, visible: false }]);
});

test("VP1 a full row's cursor is on its last column, and what a larger window has besides the screen is empty", () => {
  const { rows, screen } = shown("0123456789abcdefghij");
  expect([rows()[0], screen().cursor.x]).toEqual(["abcdefghij", 9]);
  const larger = shown(ROWS, { cols: 24, rows: 9 });
  expect(larger.rows()).toEqual([...ROWS.split("\r\n"), ""]);
});

test("VP2 only rows that changed are drawn, and a window of another size is drawn anew", () => {
  const { show, viewport, terminal } = shown(ROWS);
  expect(show("")).toBe("");
  expect(show("\b!").split(`${CSI}2K`).length - 1).toBe(1);
  show(`${CSI}8;3H`);
  const frame = viewport.frame(terminal, { cols: 5, rows: 3 });
  expect([frame.includes(`${CSI}2J`), frame.split(`${CSI}2K`).length - 1]).toEqual([true, 3]);
});

test("VP3 modes of keys are passed on and taken back; the mouse and wrapping are not", () => {
  const { show, screen } = shown(`${CSI}?1h${CSI}?2004h${CSI}?1000h${CSI}?7l${CSI}>1u\u001b]2;name\u0007`);
  const named = () => screen().modes.filter((mode) => !/^(pen|saved|charsets|tabs|titles)=/.test(mode));
  expect([named(), screen().title]).toEqual([["application-cursor", "bracketed-paste", `extras=^[>1u`], "name"]);
  show(`${CSI}?1l${CSI}?2004l${CSI}<u`);
  expect(named()).toEqual(["extras="]);
});

test("half of a wide character is a blank in its colours", () => {
  const { screen } = shown(`${CSI}44m012345678日${CSI}1;1H`);
  expect(screen().lines[0]?.at(-1)).toEqual({ ch: " ", width: 1, fg: "", bg: "4", flags: "" });
});
