import { describe, expect, test } from "bun:test";
import { AssertionError } from "./assert.ts";
import { isId, matchOne, newId } from "./ids.ts";

const bytes = (fill: number): Uint8Array => new Uint8Array(16).fill(fill);

describe("ids", () => {
  test("EL-1(b) an id is a UUID as 32 hex digits, with version 4 and its variant set", () => {
    expect(newId(bytes(0x00))).toBe("00000000000040008000000000000000");
    expect(newId(bytes(0xff))).toBe("ffffffffffff4fffbfffffffffffffff");
    for (let fill = 0; fill < 256; fill++) expect(isId(newId(bytes(fill)))).toBe(true);
  });

  test("I1 the same bytes give the same id, and the bytes given are left alone", () => {
    const given = bytes(0xff);
    expect(newId(given)).toBe(newId(bytes(0xff)));
    expect(given).toEqual(bytes(0xff));
  });

  test("too few or too many bytes are our own mistake", () => {
    expect(() => newId(new Uint8Array(15))).toThrow(AssertionError);
    expect(() => newId(new Uint8Array(17))).toThrow(AssertionError);
  });

  test("dashes, capitals, another version, another length: not an id", () => {
    const good = newId(bytes(0xab));
    expect(isId(good)).toBe(true);
    const bad = [good.toUpperCase(), `${good}0`, good.slice(1), `${good.slice(0, 12)}1${good.slice(13)}`, "", "../x"];
    for (const text of [...bad, "abababab-abab-4bab-abab-abababababab"]) expect(isId(text)).toBe(false);
  });
});

describe("matchOne", () => {
  const ids = ["build", "builder", "api", "aa01", "aa02"];

  test("an exact name wins over longer ones that begin with it", () => {
    expect(matchOne(ids, "build")).toEqual({ ok: true, value: "build" });
  });

  test("a unique beginning is enough", () => {
    expect(matchOne(ids, "ap")).toEqual({ ok: true, value: "api" });
    expect(matchOne(["abc", "abc"], "a")).toEqual({ ok: true, value: "abc" });
  });

  test("I2 nothing, or nothing that fits, is refused and never means the only one there is", () => {
    for (const key of ["zz", "", "aa012"]) {
      const result = matchOne(ids, key);
      expect(result.ok ? "found" : result.error.code).toBe("unknown");
    }
    expect(matchOne(["only"], "").ok).toBe(false);
    expect(matchOne([], "a").ok).toBe(false);
  });

  test("I2 an ambiguous beginning is refused and names some of what it fits", () => {
    const two = matchOne(ids, "aa0");
    expect(two.ok ? "found" : two.error.message).toBe('"aa0" fits 2: aa01, aa02.');
    const many = matchOne(
      Array.from({ length: 9 }, (_, n) => `x${n}`),
      "x",
    );
    expect(many.ok ? "found" : many.error.message).toBe('"x" fits 9: x0, x1, x2, x3, x4, and 4 more.');
  });
});
