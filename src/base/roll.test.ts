// Claims about rolls.
import { expect, test } from "bun:test";
import { Roll } from "./roll.ts";

function rollOf(...keys: string[]): Roll {
  const roll = new Roll();
  for (const key of keys) roll.add(key);
  return roll;
}

test("keys are read in their order, in whichever they came", () => {
  const roll = rollOf("c", "a", "b");
  expect([...roll.from(undefined)]).toEqual(["a", "b", "c"]);
  expect([...roll.from(undefined, true)]).toEqual(["c", "b", "a"]);
});

test("RO1 reading goes on behind a place, even if its key is gone", () => {
  const roll = rollOf("a", "b", "c", "d");
  expect([...roll.from("b")]).toEqual(["c", "d"]);
  expect([...roll.from("c", true)]).toEqual(["b", "a"]);
  roll.delete("b");
  roll.delete("never");
  expect([...roll.from("b")]).toEqual(["c", "d"]);
  expect([...roll.from("b", true)]).toEqual(["a"]);
  expect([...roll.from("z")]).toEqual([]);
  expect([...roll.from("", true)]).toEqual([]);
});
