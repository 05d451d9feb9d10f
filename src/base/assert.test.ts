import { expect, test } from "bun:test";
import { AssertionError, assert, never } from "./assert.ts";

test("a true condition passes, a false one throws with the given words", () => {
  expect(() => assert(true, "water is wet")).not.toThrow();
  expect(() => assert(false, "water is wet")).toThrow(new AssertionError("broken promise: water is wet"));
});

test("after an assert the compiler knows what was asserted", () => {
  const maybe: string | undefined = ["x"][0];
  assert(maybe !== undefined, "it is there");
  expect(maybe.length).toBe(1);
});

test("reaching a case that the types exclude throws and shows the value", () => {
  // @ts-expect-error a string is not never: only unchecked input could get here
  expect(() => never("surprise")).toThrow('every case is handled (got "surprise")');
});
