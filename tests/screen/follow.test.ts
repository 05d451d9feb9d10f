// A tape and its sizes become a screen; gaps are reported.
import { afterEach, expect, test } from "bun:test";
import fc from "fast-check";
import type { Result } from "../../src/base/result.ts";
import { answer } from "../../src/screen/answer.ts";
import { LiveScreens } from "../../src/screen/live.ts";
import { describe } from "../../src/vt/describe.ts";
import { Emulator } from "../../src/vt/emulator.ts";
import { FollowedTape } from "../../src/vt/follow.ts";
import { answerOf } from "../../src/wire/screen.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { EFFORT, output } from "./arbitrary.ts";
import { EVERYTHING, everything, restored } from "./compare.ts";
import { removeHomes, TapeHome } from "./tapes.ts";

afterEach(removeHomes);

const world = { disk: realDisk(), clock: realClock() };
const size = { cols: 12, rows: 5 };

const side = fc.record({ cols: fc.integer({ min: 4, max: 20 }), rows: fc.integer({ min: 2, max: 8 }) });

/**
 * Without saved cursors, tab stops and links: after a resize these depend on everything that ever scrolled, in this
 * emulator only.
 */
const ESC = "\u001b";
const LEFT_OUT = new RegExp(`${ESC}(?:[78H]|\\[[su]|\\]8;[^${ESC}]*${ESC}\\\\)`, "g");
const unsaved = output.map((text) => text.replace(LEFT_OUT, "").replaceAll("?1049", "?1047"));

test("a screen restored from a snapshot goes through later size changes like the one that was never cut", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(unsaved, side), { minLength: 2, maxLength: 3 }), (parts) => {
      const first = new Emulator(size, 0);
      const [[before] = [""], ...later] = parts;
      first.feed(Buffer.from(before));
      fc.pre(first.xterm.active.x < size.cols);
      const second = restored(first);
      for (const [text, next] of later) {
        for (const each of [first, second]) {
          each.resize(next);
          each.feed(Buffer.from(text));
        }
      }
      expect(everything(second)).toEqual(everything(first));
    }),
    EFFORT,
  );
});

test("size changes are made at their bytes, whether the tape is read at once or bit by bit", async () => {
  const home = new TapeHome();
  const [wide, narrow] = ["long line that goes on and on. ".repeat(4), "\r\nnarrow now: words that need two rows"];
  const whole = `${wide}${narrow}`;
  home.sizes("a", { offset: 0, cols: 40, rows: 6 }, { offset: wide.length, cols: 20, rows: 6 });
  home.append("a", whole);
  const reference = new Emulator({ cols: 40, rows: 6 }, 0);
  reference.feed(Buffer.from(wide));
  reference.resize({ cols: 20, rows: 6 });
  reference.feed(Buffer.from(narrow));
  const tape = new FollowedTape(world, home.directory("a"), { size });
  tape.look();
  await tape.catchUp();
  expect(everything(tape.emulator)).toEqual(everything(reference));
  expect(tape.exact).toBe(true);

  const slow = new TapeHome();
  slow.sizes("a", { offset: 0, cols: 40, rows: 6 }, { offset: wide.length, cols: 20, rows: 6 });
  const followed = new FollowedTape(world, slow.directory("a"), { size });
  for (let at = 0; at < whole.length; at += 7) {
    slow.append("a", whole.slice(at, at + 7));
    followed.look();
    await followed.catchUp();
  }
  expect(everything(followed.emulator)).toEqual(everything(reference));
});

test("a snapshot and the bytes since give the same screen; the bytes alone would not", async () => {
  const home = new TapeHome();
  const text = "\u001b[31mred\u001b]2;a title\u0007\u001b[?1049h\u001b[2;3Hin the middle\u001b[?1006h\u001b[?25l";
  const live = new LiveScreens(world);
  const ask = { directory: home.directory("a"), size, op: "snapshot", maxBytes: EVERYTHING } as const;
  home.append("a", text.slice(0, 30));
  const first = answerOf("snapshot", await answer(live, world.clock, ask));
  if (!first.ok) throw new Error(first.error.message);
  const snapshot = first.value;
  expect(snapshot.exact).toBe(true);
  home.append("a", text.slice(30));
  const whole = new FollowedTape(world, home.directory("a"), { size });
  const since = new FollowedTape(world, home.directory("a"), { size, from: snapshot });
  await whole.catchUp();
  await since.catchUp();
  expect(everything(since.emulator)).toEqual(everything(whole.emulator));
  expect(await answer(live, world.clock, { ...ask, op: "cells" })).toMatchObject({
    value: { title: "a title", alternate: true, cursor: { visible: false } },
  });
});

test("the screen at an earlier offset, from a snapshot or from the start: nothing behind it is in it, and nothing is kept", async () => {
  const home = new TapeHome();
  const live = new LiveScreens(world);
  const ask = { directory: home.directory("p"), size } as const;
  home.append("p", "before");
  const taken = answerOf("snapshot", await answer(live, world.clock, { ...ask, op: "snapshot", maxBytes: EVERYTHING }));
  if (!taken.ok) throw new Error("no snapshot");
  home.append("p", " end\u001b[2J\u001b[Hafterwards");
  const textAt = async (from: object) => {
    const said = await new LiveScreens(world).past({ ...ask, ...from }, 10);
    return said.lines[0]
      ?.map(({ ch }) => ch)
      .join("")
      .trim();
  };
  expect([await textAt({}), await textAt({ from: taken.value })]).toEqual(["before end", "before end"]);
  const whole = await answer(live, world.clock, { ...ask, op: "cells", until: 6 });
  expect(whole).toMatchObject({ ok: true, value: { cursor: { x: 6, y: 0 } } });
  expect(live.count).toBe(1);
});

test("a split sequence waits for its rest: the offset is before it", async () => {
  const home = new TapeHome();
  const text = "abc\u001b[3";
  home.append("a", text);
  const tape = new FollowedTape(world, home.directory("a"), { size });
  tape.look();
  await tape.catchUp();
  expect([tape.emulator.offset, tape.emulator.end]).toEqual([3, 6]);
  home.append("a", Buffer.from("1mx…").subarray(0, 5));
  tape.look();
  await tape.catchUp();
  expect([tape.emulator.offset, tape.emulator.end]).toEqual([9, 11]);
  home.append("a", Buffer.from("…").subarray(2));
  tape.look();
  await tape.catchUp();
  expect(tape.emulator.xterm.active.lines.get(0)?.getString(4)).toBe("…");
});

test("a string too long to be held back changes nothing before it ends, and the offset stays before it", () => {
  const emulator = new Emulator(size, 0);
  emulator.feed(Buffer.from(`ab\u001b]2;${"x".repeat(200_000)}`));
  expect([emulator.offset, emulator.end, emulator.xterm.titles.title]).toEqual([2, 200_006, ""]);
  emulator.feed(Buffer.from("é!\u0007cd"));
  expect([emulator.offset, emulator.end]).toEqual([200_012, 200_012]);
  expect(emulator.xterm.titles.title.length).toBe(200_002);
});

test("missing bytes make the screen inexact, and it continues after them", async () => {
  const home = new TapeHome();
  home.append("gap", "before\u001b[3");
  home.skip("gap", 10, "\r\nafter");
  home.append("old", "x".repeat(40), { segmentBytes: 10, maxBytes: 20 });
  home.append("old", "y".repeat(10), { segmentBytes: 10, maxBytes: 20 });
  for (const id of ["gap", "old"]) {
    const tape = new FollowedTape(world, home.directory(id), { size });
    tape.look();
    await tape.catchUp();
    expect({ id, exact: tape.exact }).toEqual({ id, exact: false });
  }
  const tape = new FollowedTape(world, home.directory("gap"), { size });
  tape.look();
  await tape.catchUp();
  expect(tape.emulator.xterm.active.lines.get(1)?.getString(0)).toBe("a");
});

test("while a flood is read others have their turn, and only a piece of it is in memory at a time", async () => {
  const home = new TapeHome();
  home.append("a", "a line of a flood\r\n".repeat(60_000));
  let turns = 0;
  let most = 0;
  const disk = realDisk();
  const watched = {
    ...disk,
    open: (...how: Parameters<typeof disk.open>) => {
      const file = disk.open(...how);
      const read = file.read.bind(file);
      file.read = (into, offset) => {
        most = Math.max(most, into.length);
        return read(into, offset);
      };
      return file;
    },
  };
  const soon = (fn: () => void) => {
    turns += 1;
    world.clock.soon(fn);
  };
  const clock = { ...world.clock, soon };
  const tape = new FollowedTape({ disk: watched, clock }, home.directory("a"), { size });
  tape.look();
  await tape.catchUp();
  expect(tape.emulator.end).toBe(60_000 * 19);
  expect(turns).toBeGreaterThan(15);
  expect(most).toBeLessThanOrEqual(64 << 10);
});

test("screens stay alive while they are asked for, in a bounded amount of memory", async () => {
  const home = new TapeHome();
  const live = new LiveScreens(world, 4 * size.cols * size.rows);
  for (const id of ["a", "b", "c", "d", "e", "f"]) {
    home.append(id, id);
    await live.current({ directory: home.directory(id), size });
  }
  expect(live.count).toBe(4);
  const again = await live.current({ directory: home.directory("f"), size });
  home.append("f", "more");
  expect(await live.current({ directory: home.directory("f"), size })).toBe(again);
});

test("a snapshot that is ahead of its tape is shown, and the next bytes of the tape are not taken for old ones", async () => {
  const home = new TapeHome();
  home.append("a", "before the power cut");
  const live = new LiveScreens(world);
  const ask = { directory: home.directory("a"), size: { cols: 40, rows: 5 }, op: "snapshot", maxBytes: 0 } as const;
  const made = answerOf("snapshot", await answer(live, world.clock, ask));
  if (!made.ok) throw new Error("no snapshot");
  const after = new TapeHome();
  after.append("a", "before");
  const other = { ...ask, directory: after.directory("a") };
  const next = new LiveScreens(world);
  expect(await answer(next, world.clock, { ...other, from: made.value })).toMatchObject({
    value: { vt: made.value.vt },
  });
  expect(next.count).toBe(0);
  after.append("a", ", and a new life that is longer than the old one");
  const tape = await next.current(other);
  expect(tape.emulator.xterm.active.lines.get(0)?.getString(6)).toBe(",");
});

test("a tape that is not the one that was followed is read anew", async () => {
  const [home, other] = [new TapeHome(), new TapeHome()];
  home.append("a", "a long story");
  other.append("a", "short");
  const live = new LiveScreens(world);
  await live.current({ directory: home.directory("a"), size });
  const { renameSync, rmSync } = await import("node:fs");
  rmSync(home.directory("a"), { recursive: true });
  renameSync(other.directory("a"), home.directory("a"));
  const tape = await live.current({ directory: home.directory("a"), size });
  expect(tape.emulator.end).toBe(5);
});

test("X3 a count that no screen can show takes no more time or memory than one that fills it", () => {
  const start = performance.now();
  for (const final of [
    "L",
    "M",
    "S",
    "T",
    "^",
    "I",
    "Z",
    "b",
    "@",
    "P",
    "X",
    "A",
    "B",
    "C",
    "D",
    "E",
    "F",
    "G",
    "a",
    "d",
    "e",
  ]) {
    const draw = (count: number) => {
      const emulator = new Emulator(size, 0);
      emulator.feed(Buffer.from(`one\r\ntwo\r\n${ESC}[2;3Hx${ESC}[${count}${final}`));
      return everything(emulator);
    };
    const most = final === "b" ? size.cols * size.rows : Math.max(size.cols, size.rows);
    for (const count of [65_536, 2_147_483_647, 99_999_999_999])
      expect([final, draw(count)]).toEqual([final, draw(most)]);
  }
  expect(performance.now() - start).toBeLessThan(20_000);
});

test("a past screen far from any key frame is bounded in cost and inexact, until the key frames were made part by part", async () => {
  const home = new TapeHome();
  const lines = Array.from({ length: 200_000 }, (_, n) => `\u001b[3${n % 8}mline ${n}\u001b[m and some words\r\n`).join(
    "",
  );
  const end = home.append("far", lines);
  expect(end).toBeGreaterThan(6 << 20);
  const live = new LiveScreens(world);
  const ask = { directory: home.directory("far"), size } as const;
  const past = async (until: number) => {
    const said = answerOf("past", await answer(live, world.clock, { ...ask, op: "past", until, maxBytes: 0 }));
    if (!said.ok) throw new Error(said.error.message);
    const screen = new Emulator(size, 0);
    screen.feed(Buffer.from(said.value.vt));
    return {
      exact: said.value.exact,
      text: describe(screen)
        .lines[0]?.map(({ ch }) => ch)
        .join(""),
    };
  };
  const near = await past(1 << 20);
  expect(near.exact).toBe(true);
  const first = await past(end);
  expect([first.exact, live.count]).toEqual([false, 0]);
  const reached: (number | null)[] = [];
  for (let after: number | null = 0; after !== null; reached.push(after)) {
    const said: Result<number | null> = answerOf(
      "index",
      await answer(live, world.clock, { ...ask, op: "index", after }),
    );
    after = said.ok ? said.value : null;
  }
  expect(reached).toEqual([4 << 20, null]);
  expect(await past(end)).toEqual({ exact: true, text: first.text });
});
