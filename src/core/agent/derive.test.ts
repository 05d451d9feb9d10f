import { expect, test } from "bun:test";
import { isId } from "../../base/ids.ts";
import { dashed, derivedId, derivedKey } from "./derive.ts";

test("the same facts give the same id, other facts another, and each is a uuid", () => {
  const ids = new Set<string>();
  for (let at = 0; at < 20_000; at += 1) ids.add(derivedId("agent", `${at}`, "r"));
  for (let at = 0; at < 20_000; at += 1) ids.add(derivedKey("agent", `${at}`, "r"));
  expect(ids.size).toBe(40_000);
  expect([...ids].filter((id) => id.length === 32).every(isId)).toBe(true);
  expect(derivedId("a", "b")).toBe(derivedId("a", "b"));
  expect(derivedId("a", "bc")).not.toBe(derivedId("ab", "c"));
  expect(dashed("0123456789abcdef0123456789abcdef")).toBe("01234567-89ab-cdef-0123-456789abcdef");
});

test("ids of this version are found by the next one: the digest never changes", () => {
  expect(derivedId("agent", "turn", "1")).toBe("35f5da0b76c9461386e4f8dec2c58563");
  expect(derivedKey("agent", "1", "r")).toBe("0959f0373c24dd4d");
});
