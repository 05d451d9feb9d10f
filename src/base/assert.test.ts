import { expect, test } from "bun:test";
import { AssertionError, assert, never } from "./assert.ts";

test("a kept promise passes, a broken one crashes with its words", () => {
  expect(() => assert(true, "water is wet")).not.toThrow();
  expect(() => assert(false, "water is wet")).toThrow(new AssertionError("broken promise: water is wet"));
});

test("after an assert the compiler knows what was asserted", () => {
  const maybe: string | undefined = ["x"][0];
  assert(maybe !== undefined, "it is there");
  expect(maybe.length).toBe(1);
});

test("a case that the types exclude crashes and shows itself", () => {
  // @ts-expect-error a string is not never: only a broken border lets one through
  expect(() => never("surprise")).toThrow('every case is handled (got "surprise")');
});
