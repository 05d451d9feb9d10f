import { expect, test } from "bun:test";
import fc from "fast-check";
import { PROFILE } from "../../tests/sim/fuzz/profile.ts";
import { itemAt, itemsOf, push, replace, vectorOf } from "./vector.ts";

test("V1 V2 a vector behaves like a list at every size, and older versions of it never change", () => {
  fc.assert(
    fc.property(fc.nat(2100), fc.array(fc.tuple(fc.boolean(), fc.nat()), { maxLength: 60 }), (size, changes) => {
      const list = Array.from({ length: size }, (_, at) => at);
      let vector = vectorOf(list);
      const before = { vector, list: [...list] };
      for (const [adds, number] of changes) {
        if (adds || list.length === 0) {
          list.push(number);
          vector = push(vector, number);
        } else {
          list[number % list.length] = -number;
          vector = replace(vector, number % list.length, -number);
        }
      }
      expect([...itemsOf(vector)]).toEqual(list);
      expect(vector.length).toBe(list.length);
      for (const at of [0, 31, 32, 1023, 1024, list.length - 1, list.length, -1])
        expect(itemAt(vector, at)).toBe(list[at] ?? undefined);
      expect([...itemsOf(before.vector)]).toEqual(before.list);
    }),
    { numRuns: 60, seed: PROFILE.seed },
  );
});

test("a vector grows item by item through every level", () => {
  let vector = vectorOf<number>();
  for (let at = 0; at < 33_000; at += 1) vector = push(vector, at);
  expect([0, 1024, 32_767, 32_768, 32_999].map((at) => itemAt(vector, at))).toEqual([0, 1024, 32_767, 32_768, 32_999]);
});

test("only an existing item can be replaced", () => {
  expect(() => replace(vectorOf([1]), 1, 2)).toThrow("a replaced item exists");
});
