import { expect, test } from "bun:test";
import {
  heightOf,
  itemAt,
  itemsIn,
  letterOf,
  movedBy,
  PIECE,
  piecesIn,
  scrolledTo,
  shapeOf,
  stateOf,
} from "./item-grid.ts";

test("IG1 of ten thousand items those in the window are drawn, and their pieces fetched", () => {
  const shape = shapeOf(1_200, 10_000);
  expect([shape.columns, heightOf(shape)]).toEqual([100, 1_200]);
  const seen = itemsIn(shape, 600, 240);
  expect(seen).toEqual({ first: 5_000, end: 7_000 });
  expect(piecesIn(seen)).toEqual([PIECE]);
  expect(piecesIn(itemsIn(shape, 0, 1_200))).toEqual([0, PIECE, 2 * PIECE]);
  expect(piecesIn(itemsIn(shapeOf(0, 3), 0, 100))).toEqual([0]);
});

test("an item is where it is drawn, and beside the squares there is none", () => {
  const shape = shapeOf(100, 20);
  expect([itemAt(shape, 0, 0), itemAt(shape, 95, 13), itemAt(shape, 97, 13)]).toEqual([0, 15, undefined]);
  expect([itemAt(shape, 50, 30), itemAt(shape, -1, 0)]).toEqual([undefined, undefined]);
});

test("keys move within the items", () => {
  const shape = shapeOf(120, 25);
  const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "x"];
  expect(keys.map((key) => movedBy(key, 3, shape))).toEqual([2, 4, 0, 13, 0, 24, undefined]);
  expect(movedBy("ArrowDown", 20, shape)).toBe(24);
});

test("a state is known by its letter, once its piece is there", () => {
  const pieces = new Map([[PIECE, "psfac"]]);
  expect([letterOf(pieces, PIECE + 1), stateOf(pieces, PIECE + 2), stateOf(pieces, 3)]).toEqual([
    "s",
    "failed",
    "not known yet",
  ]);
});

test("scrolling goes as far as it must", () => {
  expect([scrolledTo(0, 10, 120, 60), scrolledTo(105, 10, 120, 60), scrolledTo(300, 10, 120, 60)]).toEqual([
    0, 120, 312,
  ]);
});
