import { expect, test } from "bun:test";
import { pickerKey, visibleFrom } from "./picker.ts";

test("arrows mark and go around, Enter and numbers take, q and Escape give up, other keys do nothing", () => {
  expect(pickerKey("\u001b[A", 0, 3)).toEqual({ kind: "mark", at: 2 });
  expect(pickerKey("\u001bOB", 2, 3)).toEqual({ kind: "mark", at: 0 });
  expect(pickerKey("\r", 1, 3)).toEqual({ kind: "take", at: 1 });
  expect(pickerKey("3", 0, 3)).toEqual({ kind: "take", at: 2 });
  for (const key of ["q", "\u001b", "\u0003", "\u001c"]) expect(pickerKey(key, 0, 3)).toEqual({ kind: "none" });
  for (const key of ["4", "0", "x", "\u001b[C"]) expect(pickerKey(key, 0, 3)).toBeUndefined();
});

test("PK2 the marked line is among those that are drawn, however small the window is", () => {
  for (const room of [1, 2, 5]) {
    for (let at = 0; at < 12; at += 1) {
      const from = visibleFrom(at, 12, room);
      expect(from >= 0 && from <= at && at < from + room && from + room <= 12).toBe(true);
    }
  }
});
