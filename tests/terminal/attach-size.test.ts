// Windows of different sizes on one terminal: each shows its part of the terminal's screen, cell by cell.
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { ScreenCell, ScreenCells } from "../../src/core/terminal/screen.ts";
import { describe } from "../../src/vt/describe.ts";
import { Emulator } from "../../src/vt/emulator.ts";
import { FollowedTape } from "../../src/vt/follow.ts";
import type { Size } from "../../src/world/children.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { endAll, Home, type Window } from "../cli/terminal-home.ts";
import { until } from "../until.ts";

afterEach(endAll, 180_000);

const DETACH = "\u001c";
const ESC = "\u001b";
const LARGE = { cols: 100, rows: 30 };
const SMALL = { cols: 41, rows: 10 };

/** Does what it is told, line by line. */
const PROGRAM = 'echo ready; while read -r line; do eval "$line"; done';
/** More than a screen, with colours, and wide characters over every edge. */
const SCROLL = `i=0; while [ $i -lt 60 ]; do printf '${ESC}[3%dm%d日本語 ${ESC}[44m%0120d${ESC}[0m\\n' $((i % 8)) $i $i; i=$((i + 1)); done`;
const FULL_SCREEN = `printf '${ESC}[?1049h${ESC}[2J${ESC}[1;1Htop left${ESC}[1;95H${ESC}[7mright${ESC}[0m${ESC}[28;60H${ESC}[4mdown here${ESC}[0m'`;
const LEAVE_FULL_SCREEN = `printf '${ESC}[?1049l'`;

/** What a person sees in a window. */
class Eyes {
  readonly #window: Window;
  readonly #emulator: Emulator;
  #fed = 0;

  constructor(window: Window, size: Size) {
    this.#window = window;
    this.#emulator = new Emulator(size, 0);
  }

  get screen(): ScreenCells {
    this.#look();
    return describe(this.#emulator);
  }

  /** Until now it saw what was drawn for the old size. */
  resize(size: Size): void {
    this.#look();
    this.#emulator.resize(size);
    this.#window.resize(size.cols, size.rows);
  }

  #look(): void {
    const { bytes } = this.#window;
    this.#emulator.feed(bytes.subarray(this.#fed));
    this.#fed = bytes.length;
  }
}

async function terminalScreen(home: Home, id: string): Promise<ScreenCells> {
  const world = { disk: realDisk(), clock: realClock() };
  const tape = new FollowedTape(world, join(home.path, "terminals", id), { size: LARGE });
  await tape.catchUp();
  return describe(tape.emulator);
}

const EMPTY: ScreenCell = { ch: "", width: 1, fg: "", bg: "", flags: "" };

/** The cells of the terminal that a window shows, if its cursor is where the terminal's is. */
function partFor(window: ScreenCells, terminal: ScreenCells): readonly (readonly ScreenCell[])[] {
  const left = terminal.cursor.x - window.cursor.x;
  const top = terminal.cursor.y - window.cursor.y;
  const inside = (start: number, seen: number, all: number) => start >= 0 && start <= Math.max(0, all - seen);
  if (!inside(left, window.cols, terminal.cols) || !inside(top, window.rows, terminal.rows)) return [];
  return Array.from({ length: window.rows }, (_, y) => {
    const row = terminal.lines[top + y] ?? [];
    return Array.from({ length: window.cols }, (_, x) => clipped(row, left + x, x === 0, x === window.cols - 1));
  });
}

/** Half of a wide character is a blank. */
function clipped(row: readonly ScreenCell[], x: number, isFirst: boolean, isLast: boolean): ScreenCell {
  const cell = row[x] ?? EMPTY;
  const isHalf = (isFirst && cell.width === 0) || (isLast && cell.width === 2);
  return isHalf ? { ...cell, ch: cell.width === 2 || cell.flags !== "" || cell.fg !== "" ? " " : "", width: 1 } : cell;
}

async function showsItsPart(home: Home, id: string, eyes: Eyes, what: string): Promise<void> {
  let seen: unknown;
  const isPart = async () => {
    const [window, terminal] = [eyes.screen, await terminalScreen(home, id)];
    const part = partFor(window, terminal);
    seen = { window: textOf(window.lines), part: textOf(part), at: window.cursor, of: terminal.cursor };
    return Bun.deepEquals(window.lines, part) && window.cursor.visible === terminal.cursor.visible;
  };
  await until(`the window shows its part of the screen ${what}`, isPart, () => JSON.stringify(seen, null, 1));
}

const textOf = (lines: readonly (readonly ScreenCell[])[]) =>
  lines.map((row) => row.map(({ ch, width }) => (width === 0 ? "" : ch || " ")).join(""));

/** Both windows attached; the larger one has typed last. */
async function twoWindows(home: Home, ...args: readonly string[]) {
  await home.ok("new", "-d", "t", "--", "sh", "-c", PROGRAM);
  await home.says("t", "ready");
  const { id } = await home.listed("t");
  const small = home.window(["attach", "t", ...args], SMALL);
  await small.shows("ready");
  const large = home.window(["attach", "t"], LARGE);
  await large.shows("ready");
  return { id, small, large, eyes: { small: new Eyes(small, SMALL), large: new Eyes(large, LARGE) } };
}

async function leave(window: Window): Promise<void> {
  window.type(DETACH);
  expect(await window.exited).toBe(0);
}

test("a window of another size than the terminal's shows a part of its screen, through typing, scrolling and resizing", async () => {
  const home = new Home();
  const { id, small, large, eyes } = await twoWindows(home);
  await showsItsPart(home, id, eyes.small, "after attaching");
  large.type(`echo ${"long ".repeat(40)}`);
  await showsItsPart(home, id, eyes.small, "while a long line is typed");
  large.type(`\r${SCROLL}; echo scrolled\r`);
  await home.says("t", "\nscrolled");
  await showsItsPart(home, id, eyes.small, "after it scrolled");
  large.type(`${FULL_SCREEN}; echo dr''awn\r`);
  await large.shows("drawn"); // Its echo has quotes in it.
  await showsItsPart(home, id, eyes.small, "with a full-screen program");
  eyes.large.resize({ cols: 120, rows: 40 });
  large.type("echo wi''der\r");
  await large.shows("wider");
  await showsItsPart(home, id, eyes.small, "after the other window was resized");
  eyes.small.resize({ cols: 50, rows: 12 });
  await showsItsPart(home, id, eyes.small, "after it was resized");
  large.type(`${LEAVE_FULL_SCREEN}; ${SCROLL}; echo again\r`);
  await home.says("t", "\nagain");
  await showsItsPart(home, id, eyes.small, "after the full-screen program");
  await leave(large);
  await leave(small);
});

test("a small window that is typed into gets the terminal's size, shows all of it, and is restored when it detaches", async () => {
  const home = new Home();
  const { id, small, large, eyes } = await twoWindows(home);
  large.type(`${SCROLL}; echo scrolled\r`);
  await home.says("t", "\nscrolled");
  await showsItsPart(home, id, eyes.small, "while the other window is larger");
  expect(eyes.small.screen.alternate).toBe(true);
  small.type("echo mine\r");
  await until(
    "its window shows the program's own bytes",
    () => !eyes.small.screen.alternate,
    () => eyes.small.screen.lines.map((row) => row.map(({ ch }) => ch).join("")),
  );
  small.type("stty size\r"); // Not before: the program may read a line before it has the size.
  await home.says("t", "\n10 41");
  await showsItsPart(home, id, eyes.small, "in its own size");
  await showsItsPart(home, id, eyes.large, "in a window that is larger than the terminal");
  await leave(small);
  large.type("echo large again\r");
  await home.says("t", "\nlarge again");
  await showsItsPart(home, id, eyes.large, "after the other one left");
  await leave(large);
});

test("a drawn window is restored when it detaches: its own screen, cursor and modes, and a cooked line", async () => {
  const home = new Home();
  const { id, small, large, eyes } = await twoWindows(home, "--read-only");
  large.type(`printf '${ESC}[?2004h${ESC}[?1h${ESC}[?25l'; ${FULL_SCREEN}; echo dr''awn\r`);
  await large.shows("drawn"); // Its echo has quotes in it.
  await showsItsPart(home, id, eyes.small, "read-only");
  expect(eyes.small.screen.modes).toEqual(expect.arrayContaining(["application-cursor", "bracketed-paste"]));
  await leave(small);
  const { alternate, modes, cursor } = eyes.small.screen;
  const left = modes.filter((mode) => !/^(pen|saved|charsets|tabs|extras|titles)=/.test(mode));
  expect({ alternate, left, visible: cursor.visible }).toEqual({ alternate: false, left: [], visible: true });
  expect(small.cooked).toBe(true);
  await leave(large);
});

test("if the program ends, a drawn window is restored and names the command that has the output; the other keeps it", async () => {
  const home = new Home();
  const { id, small, large, eyes } = await twoWindows(home);
  large.type("echo last wo''rds\r");
  await large.shows("last words");
  const shown = () => textOf(eyes.small.screen.lines);
  await until("the small window is drawn", () => eyes.small.screen.alternate, shown);
  await showsItsPart(home, id, eyes.small, "before the end");
  large.type("exit 3\r");
  expect(await Promise.all([small.exited, large.exited])).toEqual([3, 3]);
  expect(textOf(eyes.large.screen.lines).join("\n")).toContain("last words");
  expect(textOf(eyes.large.screen.lines).join("\n")).not.toContain("holdfast history");
  expect(eyes.small.screen.alternate).toBe(false);
  expect(textOf(eyes.small.screen.lines).join("\n")).toContain("→ holdfast history t");
  expect(await home.ok("history", "t")).toContain("\nlast words\n");
});
