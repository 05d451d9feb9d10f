import { expect, test } from "bun:test";
import { ok, type Result, refused } from "./result.ts";

const half = (n: number): Result<number> =>
  n % 2 === 0 ? ok(n / 2) : refused("odd", `${n} is odd.`, "Give an even one.");

test("a result is a value or a refusal, and says which", () => {
  expect(half(4)).toEqual({ ok: true, value: 2 });
  expect(half(3)).toEqual({ ok: false, error: { code: "odd", message: "3 is odd.", hint: "Give an even one." } });
});

test("the value cannot be read before `ok` is checked", () => {
  const result = half(4);
  // @ts-expect-error a refusal has no value
  expect(result.value).toBe(2);
});
