import { expect, test } from "bun:test";
import { isId } from "../../base/ids.ts";
import { dashed, derivedId, keyedId } from "./derive.ts";

test("the same facts give the same id, other facts another, and each is a uuid", () => {
  const ids = new Set<string>();
  for (let at = 0; at < 20_000; at += 1) ids.add(derivedId("agent", `${at}`, "r"));
  expect(ids.size).toBe(20_000);
  expect([...ids].every(isId)).toBe(true);
  expect(derivedId("a", "b")).toBe(derivedId("a", "b"));
  expect(derivedId("a", "bc")).not.toBe(derivedId("ab", "c"));
  expect(dashed("0123456789abcdef0123456789abcdef")).toBe("01234567-89ab-cdef-0123-456789abcdef");
});

test("ids of this version are found by the next one: the digest never changes", () => {
  expect(derivedId("agent", "turn", "1")).toBe("35f5da0b76c9461386e4f8dec2c58563");
});

test("D4 an id with a key follows from the key and all parts", () => {
  const keyed = (key: string) => (text: string) => derivedId(key, text);
  const id = keyedId(keyed("k"), "prompt", "a", "1", "r");
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect(keyedId(keyed("k"), "prompt", "a", "1", "r")).toBe(id);
  expect(keyedId(keyed("other"), "prompt", "a", "1", "r")).not.toBe(id);
  expect(keyedId(keyed("k"), "prompt", "a1", "", "r")).not.toBe(id);
});
