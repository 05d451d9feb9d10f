// What a window shows after attaching, cell by cell: the same as an emulator fed with the whole tape.
import { afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe as described, linesOf } from "../../src/vt/describe.ts";
import { Emulator } from "../../src/vt/emulator.ts";
import { powerCut, Rebooting } from "../cli/power-cut.ts";
import { endAll, Home, type Window } from "../cli/terminal-home.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";

afterEach(endAll, 180_000);

const DETACH = "\u001c";
const ESC = "\u001b";
const SIZE = { cols: 80, rows: 24 };

/** More than is ever replayed, in lines of many colours. */
const FLOOD = `i=0; while [ $i -lt 5000 ]; do printf '${ESC}[3%dmline %d of what was said before, and nobody reads again${ESC}[0m\\n' $((i % 8)) $i; i=$((i + 1)); done`;

function screenOf(text: string, size = SIZE) {
  const emulator = new Emulator(size, 0);
  emulator.feed(Buffer.from(text));
  const { lines, cursor, modes, alternate, behind } = described(emulator);
  emulator.dispose();
  return { screen: { lines, cursor, modes, alternate }, behind };
}

function tapeOf(home: Home, id: string): string {
  const directory = join(home.path, "terminals", id, "tape");
  const files = existsSync(directory) ? readdirSync(directory).sort() : []; // It is made with the first byte.
  return Buffer.concat(files.map((file) => readFileSync(join(directory, file)))).toString();
}

/** Attaching saves the window's own title first. */
const SAVED_TITLE = `${ESC}[22;0t`;

/** Checks that the window shows what the tape says. */
async function isExact(home: Home, window: Window, id: string): Promise<void> {
  const same = () => Bun.deepEquals(screenOf(window.seen).screen, screenOf(SAVED_TITLE + tapeOf(home, id)).screen);
  await until("the window shows the screen", same, () => JSON.stringify(rowsOf(window.seen), null, 1));
}

const rowsOf = (text: string) =>
  screenOf(text).screen.lines.map((row) =>
    row
      .map(({ ch }) => ch || " ")
      .join("")
      .trimEnd(),
  );

/** The rows, including those that scrolled away. */
function historyOf(text: string): string[] {
  const emulator = new Emulator(SIZE, 0);
  emulator.feed(Buffer.from(text));
  return linesOf(emulator, emulator.xterm.active, 0).map((row) =>
    row
      .map(({ ch }) => ch || " ")
      .join("")
      .trimEnd(),
  );
}

async function leave(window: Window): Promise<void> {
  window.type(DETACH);
  expect(await window.exited).toBe(0);
}

/** The same on one line of a full screen. */
const WORK = `i=0; while [ $i -lt 5000 ]; do printf '${ESC}[24;1H${ESC}[2Kworking on number %d, which takes a while longer than the last' $i; i=$((i + 1)); done`;

/** A program on the alternate screen that draws only on request and records every resize of its window. */
const FULL_SCREEN = [
  "trap 'echo changed >> changed' WINCH; stty -echo",
  `printf '${ESC}[?1049h${ESC}[2J${ESC}[?25l${ESC}[?1002h${ESC}[?1006h${ESC}[?2004h'`,
  `printf '${ESC}[3;10H${ESC}[1;38;5;208mdrawn in orange${ESC}[0m${ESC}[10;20H${ESC}[48;2;10;20;30m日本 é${ESC}[0m'`,
  WORK,
  `while :; do read -r row && printf '${ESC}[%d;5H${ESC}[7mtold %d${ESC}[0m' $row $row; done`,
].join("; ");

const TMUX = Bun.which("tmux");

test.skipIf(TMUX === null)(
  "RP4 attached from tmux, a program that asks the terminal outside of it is shown, replayed and live (needs tmux)",
  async () => {
    const home = new Home();
    const tmux = (...args: readonly string[]) =>
      Bun.spawnSync([TMUX ?? "", "-S", join(home.path, "tmux"), ...args], { env: home.env }).stdout.toString();
    const asks = `${ESC}Ptmux;${ESC}${ESC}]11;?\u0007${ESC}\\\\`;
    const says = `stty -echo; printf 'before${asks}after\\r\\n'; while read -r line; do printf "${asks}got $line\\r\\n"; done`;
    await home.ok("new", "-d", "wraps", "--", "sh", "-c", says);
    await home.says("wraps", "after");
    tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", ...ours("src/cli/main.ts", "attach", "wraps"));
    const shows = (text: string) =>
      until(
        `tmux shows ${text}`,
        () => tmux("capture-pane", "-p").includes(text),
        () => tmux("capture-pane", "-p"),
      );
    await shows("beforeafter");
    const other = home.window(["attach", "wraps"], SIZE); // It answers now: what the one in tmux gets is filtered.
    await until(
      "the other window shows it, too",
      () => rowsOf(other.seen).includes("beforeafter"),
      () => other.seen,
    );
    other.type("line\r");
    await shows("got line");
    await leave(other);
    tmux("kill-server");
  },
);

test("a full-screen program is shown as it is, after any amount of output, without being asked to redraw", async () => {
  const home = new Home();
  await home.ok("new", "-d", "full", "--", "sh", "-c", FULL_SCREEN);
  const { id } = await home.listed("full");
  await until(
    "it has drawn",
    () => tapeOf(home, id).includes("number 4999"),
    () => tapeOf(home, id),
  );
  await home.ok("down"); // Writes a last checkpoint.
  await home.ok("send", "full", "15", "--enter");
  await until(
    "it has drawn more",
    () => tapeOf(home, id).includes("told 15"),
    () => tapeOf(home, id),
  );
  for (const daemon of ["down", "up"]) {
    await home.ok(daemon);
    const window = home.window(["attach", "full"], SIZE);
    await isExact(home, window, id);
    expect(rowsOf(window.seen)[14]).toBe("    told 15");
    window.type(`${daemon === "down" ? 17 : 19}\r`);
    await isExact(home, window, id);
    await leave(window);
    const { alternate, modes, cursor } = screenOf(window.seen).screen;
    expect([alternate, modes.filter((mode) => !/^(pen|saved|charsets|tabs|extras|titles)=/.test(mode))]).toEqual([
      false,
      [],
    ]);
    expect(cursor.visible).toBe(true);
  }
  expect(existsSync(join(home.path, "changed"))).toBe(false);
});

test("a shell's history can be scrolled back to, each line once, with its screen below", async () => {
  const home = new Home();
  await home.ok("new", "-d", "sh", "--", "sh", "-c", `${FLOOD}; printf '${ESC}[4mready${ESC}[0m '; cat`);
  const { id } = await home.listed("sh");
  await until(
    "it is ready",
    () => tapeOf(home, id).includes("ready"),
    () => tapeOf(home, id),
  );
  await home.ok("down");
  const window = home.window(["attach", "sh"], SIZE);
  await isExact(home, window, id);
  expect(rowsOf(window.seen).at(-1)).toBe("ready");
  const rows = historyOf(window.seen);
  const numbers = rows.flatMap((row) => /^line (\d+) of/.exec(row)?.[1] ?? []).map(Number);
  expect(numbers.length).toBeGreaterThan(900);
  expect(numbers).toEqual(numbers.map((_, at) => 5000 - numbers.length + at));
  await leave(window);
});

test("without a checkpoint, or in a window of another size, the end of the tape is shown and the program redraws itself", async () => {
  const home = new Home();
  await home.ok("new", "-d", "full", "--", "sh", "-c", FULL_SCREEN);
  const { id } = await home.listed("full");
  await until(
    "it has drawn",
    () => tapeOf(home, id).includes("number 4999"),
    () => tapeOf(home, id),
  );
  const first = home.window(["attach", "full"], SIZE);
  await first.shows("number 4999");
  await until(
    "it was made to draw itself",
    () => existsSync(join(home.path, "changed")),
    () => `${join(home.path, "changed")} exists: ${existsSync(join(home.path, "changed"))}`,
  );
  await leave(first);
  await home.ok("down");
  const changes = () => readFileSync(join(home.path, "changed"), "utf8").length;
  const before = changes();
  const other = home.window(["attach", "full"], { cols: 100, rows: 30 });
  await other.shows("number 4999");
  await until(
    "it was notified of the other window",
    () => changes() > before,
    () => changes(),
  );
  await leave(other);
});

test("after a reboot the old screen is shown with a line that says what happened, also for a long tape", async () => {
  const home = new Rebooting();
  await home.ok("new", "-d", "full", "--", "sh", "-c", FULL_SCREEN);
  const { id } = await home.listed("full");
  await until(
    "it has drawn",
    () => tapeOf(home, id).includes("number 4999"),
    () => tapeOf(home, id),
  );
  await home.ok("down");
  await home.ok("up");
  await powerCut(home);
  home.boot += 1;
  await home.ok("up");
  const window = home.window(["attach", "full"], SIZE);
  await window.shows("the machine went down; started again");
  await isExact(home, window, id);
  const rows = historyOf(window.seen);
  const line = rows.findIndex((row) => row.includes("the machine went down; started again"));
  const old = rows.slice(line - 24, line);
  expect([old[2], old[9], old[23]?.slice(0, 22)]).toEqual([
    `${" ".repeat(9)}drawn in orange`,
    `${" ".repeat(19)}日 本  é`,
    "working on number 4999",
  ]);
  expect(screenOf(window.seen).screen.alternate).toBe(false);
  const told = (await home.ok("history", "full")).split("\n");
  const said = told.findIndex((row) => row.includes("the machine went down; started again"));
  expect([told[said - 22], told[said - 15], told[said - 1]?.slice(0, 22)]).toEqual([
    `${" ".repeat(9)}drawn in orange`,
    `${" ".repeat(19)}日本 é`,
    "working on number 4999",
  ]);
  expect((await home.ok("tail", "full", "-n", "30")).split("\n")).toEqual(told.slice(-31));
  await leave(window);
});
