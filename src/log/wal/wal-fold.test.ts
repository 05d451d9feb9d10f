import { describe, expect, test } from "bun:test";
import type { Frame } from "./frame.ts";
import { foldWal } from "./wal-fold.ts";

function frame(gen: number, first: number, count: number, marks: { durable?: number; drained?: number } = {}): Frame {
  return {
    gen,
    first,
    count,
    durable: marks.durable ?? 0,
    drained: marks.drained ?? 0,
    line: new Uint8Array(0),
    body: 0,
  };
}

const firsts = (frames: readonly Frame[]) => frames.map(({ first }) => first);

describe("what the write-ahead log contains", () => {
  test("an empty log ends at 0", () => {
    expect(foldWal([])).toEqual({ live: [], cut: [], lost: [], drained: 0, durable: 0, end: 0, gen: 0 });
  });

  test("EL-3(a) drained entries are ignored, even if they are corrupt", () => {
    const view = foldWal([frame(1, 1, 1), frame(1, 3, 1), frame(1, 4, 2, { durable: 3, drained: 3 })]);
    expect(firsts(view.live)).toEqual([4]);
    expect(view.lost).toEqual([]);
    expect(view.end).toBe(5);
  });

  test("a missing seq above every later watermark is a torn tail: the rest is cut", () => {
    const view = foldWal([frame(1, 1, 1), frame(1, 2, 1, { durable: 1 }), frame(1, 4, 1, { durable: 1 })]);
    expect(firsts(view.live)).toEqual([1, 2]);
    expect(firsts(view.cut)).toEqual([4]);
    expect(view.lost).toEqual([]);
    expect(view.end).toBe(2);
  });

  test("a missing seq at or below a later watermark is damage: what follows is kept", () => {
    const view = foldWal([frame(1, 1, 1), frame(1, 4, 1, { durable: 3 })]);
    expect(firsts(view.live)).toEqual([1, 4]);
    expect(view.lost).toEqual([{ from: 2, to: 3 }]);
  });

  test("a hole across the watermark is damage up to it and torn from there", () => {
    const view = foldWal([frame(1, 1, 1), frame(1, 6, 1, { durable: 3 })]);
    expect(view.lost).toEqual([{ from: 2, to: 3 }]);
    expect(firsts(view.cut)).toEqual([6]);
    expect(view.end).toBe(3);
  });

  test("an acknowledged end that is gone is damage, and its seqs are not used again", () => {
    const view = foldWal([frame(1, 1, 1), frame(2, 3, 0, { durable: 5 })]);
    expect(view.lost).toEqual([{ from: 2, to: 5 }]);
    expect(view.end).toBe(5);
  });

  test("a line of a life whose tail was cut never counts in a later one", () => {
    const torn = [frame(3, 206, 1), frame(3, 207, 1), frame(3, 208, 1)];
    const next = [frame(5, 206, 0, { durable: 205, drained: 205 }), frame(5, 206, 1, { durable: 205, drained: 205 })];
    const view = foldWal([...torn, ...next]);
    expect(view.live).toEqual([next[1] ?? frame(0, 0, 0)]);
    expect(view.end).toBe(206);
  });

  test("a mark alone invalidates the dead tail of the previous life", () => {
    const view = foldWal([frame(3, 206, 1), frame(4, 206, 0, { durable: 205, drained: 205 })]);
    expect(view.live).toEqual([]);
    expect(view.end).toBe(205);
  });
});
