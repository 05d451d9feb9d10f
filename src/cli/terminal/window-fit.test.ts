import { expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { Fault } from "../../base/fault.ts";
import { Emulator } from "../../vt/emulator.ts";
import { DrawnScreen } from "./drawn-screen.ts";
import { type Fitting, WindowFit } from "./window-fit.ts";

const SIZE = { cols: 80, rows: 24 };
const LARGER = { offset: 0, cols: 100, rows: 30 };
const SETTLED_MS = 120;

/** A window of 80 × 24, and what happens to it. */
function fitted(load: Fitting["load"] = async (size) => new DrawnScreen(new Emulator(size, 0), 0)) {
  const clock = new SimClock();
  const terminal = { now: SIZE, size: () => terminal.now };
  const log: string[] = [];
  const fit = new WindowFit(
    { clock, terminal },
    {
      load,
      begin: () => log.push("begin"),
      draw: () => log.push("draw"),
      end: () => log.push("end"),
      hold: () => log.push("hold"),
      release: () => log.push("release"),
      lacks: () => log.push("lacks"),
      broken: (error) => log.push(`broken: ${error}`),
    },
  );
  return { clock, terminal, log, fit };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("WF1 WF2 a window that is too small is drawn at once, and the holder waits while that is loaded", async () => {
  const { fit, log, clock } = fitted();
  fit.size({ offset: 0, ...SIZE });
  clock.advance(SETTLED_MS);
  expect([fit.isDrawing, log]).toEqual([false, []]);
  fit.size(LARGER);
  expect([fit.isLoading, fit.isDrawing, log]).toEqual([true, true, ["hold"]]);
  await turn();
  expect([fit.isLoading, fit.isDrawing, log]).toEqual([false, true, ["hold", "begin", "draw", "release"]]);
});

test("WF1 a change that is soon taken back changes nothing, and one of our own window is waited for", async () => {
  const { fit, log, clock, terminal } = fitted();
  fit.size({ offset: 0, ...SIZE });
  fit.size({ offset: 0, cols: 80, rows: 23 });
  clock.advance(SETTLED_MS - 1);
  fit.size({ offset: 0, ...SIZE });
  clock.advance(SETTLED_MS);
  terminal.now = { cols: 60, rows: 20 };
  fit.resized();
  fit.size({ offset: 0, cols: 70, rows: 22 }); // The answer to a size that the window has had on the way.
  fit.size({ offset: 0, cols: 60, rows: 20 });
  clock.advance(SETTLED_MS);
  await turn();
  expect(log).toEqual([]);
});

test("the drawing ends when both sizes are the same, but not within a sequence", async () => {
  const { fit, log, clock } = fitted();
  fit.size(LARGER);
  await turn();
  fit.output(0, Buffer.from("text\u001b["));
  fit.size({ offset: 6, ...SIZE });
  clock.advance(SETTLED_MS);
  expect([fit.isDrawing, log.includes("end")]).toEqual([true, false]);
  fit.output(6, Buffer.from("m"));
  clock.advance(SETTLED_MS);
  expect([fit.isDrawing, log.at(-1)]).toEqual([false, "end"]);
});

test("DS1 DS2 bytes that are known are not drawn twice, and a size waits for its offset", async () => {
  const emulator = new Emulator(LARGER, 0);
  emulator.feed(Buffer.from("abc"));
  const screen = new DrawnScreen(emulator, 2);
  screen.size({ offset: 1, cols: 5, rows: 5 }); // Older than what the tape had.
  screen.size({ offset: 5, ...SIZE });
  screen.output(1, Buffer.from("bcd"));
  expect([emulator.xterm.active.x, emulator.size.cols, screen.isSettled]).toEqual([4, 100, false]);
  screen.output(4, Buffer.from("ef"));
  expect([emulator.xterm.active.x, emulator.size.cols, screen.isSettled]).toEqual([6, 80, true]);
});

test("WF3 if it cannot be loaded the bytes are shown as they are, and it is not tried again", async () => {
  const { fit, log } = fitted(() => Promise.reject(new Fault({ code: "EIO", operation: "read", path: "tape" })));
  fit.size(LARGER);
  await turn();
  fit.size(LARGER);
  await turn();
  expect([fit.isDrawing, log]).toEqual([false, ["hold", "lacks", "release"]]);
});

test("nothing is drawn after the visit", async () => {
  const { fit, log, clock } = fitted();
  fit.size(LARGER);
  fit.close();
  await turn();
  clock.advance(SETTLED_MS);
  expect(log).toEqual(["hold", "release"]);
});
