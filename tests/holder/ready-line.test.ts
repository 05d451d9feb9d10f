// The line that is made ready in a restored terminal: when it is typed, and when not.
import { expect, test } from "bun:test";
import { ReadyLine } from "../../src/holder/ready-line.ts";
import { SimClock } from "../sim/clock.ts";

function readyIn(readsKeys: boolean) {
  const clock = new SimClock();
  const typed: string[] = [];
  const keyboard = { readsKeys, write: (bytes: Uint8Array) => void typed.push(Buffer.from(bytes).toString()) };
  return { clock, typed, line: new ReadyLine(clock, keyboard, "make") };
}

test("an editor of lines gets it as soon as it has fallen silent, another program after a longer silence; once", () => {
  for (const [readsKeys, silence] of [
    [true, 60],
    [false, 320],
  ] as const) {
    const { clock, typed, line } = readyIn(readsKeys);
    clock.advance(1000);
    line.heard();
    clock.advance(20);
    expect(typed).toEqual([]);
    line.heard();
    clock.advance(silence);
    expect(typed).toEqual(["make"]);
    line.heard();
    clock.advance(10_000);
    expect(typed).toEqual(["make"]);
    expect(clock.pendingTimers).toBe(0);
  }
});

test("a program that says nothing, or never stops, gets it after all", () => {
  const silent = readyIn(false);
  silent.clock.advance(20_100);
  expect(silent.typed).toEqual(["make"]);
  const loud = readyIn(true);
  for (let at = 0; at < 20_100; at += 10) {
    loud.line.heard();
    loud.clock.advance(10);
  }
  expect(loud.typed).toEqual(["make"]);
});

test("the first to type wins", () => {
  const { clock, typed, line } = readyIn(true);
  line.heard();
  line.forget();
  clock.advance(10_000);
  expect(typed).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
});
