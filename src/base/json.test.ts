import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonical, type Json, jsonIn, MAX_DEPTH, MAX_VALUES, parseJson } from "./json.ts";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

test("a text is parsed up to the limits, and refused beyond them", () => {
  expect(JSON.stringify(jsonIn(nested(MAX_DEPTH)))).toBe(nested(MAX_DEPTH));
  expect(jsonIn(nested(MAX_DEPTH + 1))).toBeUndefined();
  expect(jsonIn(`${`{"a":`.repeat(100_000)}1${"}".repeat(100_000)}`)).toBeUndefined();
  expect(jsonIn(`[${"1,".repeat(MAX_VALUES - 1)}1]`)).toHaveLength(MAX_VALUES);
  expect(jsonIn(`[${"1,".repeat(MAX_VALUES)}1]`)).toBeUndefined();
  expect(parseJson(nested(MAX_DEPTH + 1))).toMatchObject({ ok: false, error: { code: "not-json" } });
});

test("brackets and commas in strings count for nothing", () => {
  const words = `${"[{,".repeat(MAX_VALUES)}\\" "`;
  expect(jsonIn(JSON.stringify({ [words]: words }))).toEqual({ [words]: words });
});

test("whatever is not JSON gives nothing", () => {
  for (const text of ["", "[", '"', '"\\', '{"a":}', "]".repeat(1000), "nul", "\u0000"])
    expect(jsonIn(text)).toBeUndefined();
});

test("any JSON is what it was, and any text gives an answer", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 20 }), (value) =>
      expect(jsonIn(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value))),
    ),
  );
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => void jsonIn(text)));
});

test("J0 a number that no number can hold would be another value in the next life: it is refused", () => {
  for (const text of ["1e400", '{"a":[-1E+999]}', "1".repeat(400)]) expect(jsonIn(text)).toBeUndefined();
  const words = { a: "1e400", b: 1e308, c: `${"1".repeat(400)}` };
  expect(jsonIn(JSON.stringify(words))).toEqual(words);
  expect([jsonIn("1e-400"), jsonIn("1e0300")]).toEqual([0, 1e300]);
});

test("canonical text is the same for equal values, and another for all others", () => {
  const value = JSON.parse('{"b":[{"y":1,"x":null}],"a":"\\u0000\\"","__proto__":2,"":0}') as Json;
  expect(canonical(value)).toBe('{"":0,"__proto__":2,"a":"\\u0000\\"","b":[{"x":null,"y":1}]}');
  expect(jsonIn(canonical(value))).toEqual(value);
  expect([canonical(["1"]), canonical([1]), canonical("1"), canonical({})]).toEqual(['["1"]', "[1]", '"1"', "{}"]);
});
