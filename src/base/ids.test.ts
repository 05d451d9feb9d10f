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

  test("I1 the same bytes give the same id, and the given bytes are not changed", () => {
    const given = bytes(0xff);
    expect(newId(given)).toBe(newId(bytes(0xff)));
    expect(given).toEqual(bytes(0xff));
  });

  test("too few or too many bytes are a bug in the caller", () => {
    expect(() => newId(new Uint8Array(15))).toThrow(AssertionError);
    expect(() => newId(new Uint8Array(17))).toThrow(AssertionError);
  });

  test("dashes, capitals, another version or another length do not make an id", () => {
    const good = newId(bytes(0xab));
    expect(isId(good)).toBe(true);
    const bad = [good.toUpperCase(), `${good}0`, good.slice(1), `${good.slice(0, 12)}1${good.slice(13)}`, "", "../x"];
    for (const text of [...bad, "abababab-abab-4bab-abab-abababababab"]) expect(isId(text)).toBe(false);
  });
});

describe("matchOne", () => {
  const ids = ["build", "builder", "api", "aa01", "aa02"];

  test("an exact match wins over longer names that begin with it", () => {
    expect(matchOne(ids, "build")).toEqual({ ok: true, value: "build" });
  });

  test("a unique prefix is enough", () => {
    expect(matchOne(ids, "ap")).toEqual({ ok: true, value: "api" });
    expect(matchOne(["abc", "abc"], "a")).toEqual({ ok: true, value: "abc" });
  });

  test("I2 an empty or unknown key is refused, even if there is only one candidate", () => {
    for (const key of ["zz", "", "aa012"]) {
      const result = matchOne(ids, key);
      expect(result.ok ? "found" : result.error.code).toBe("unknown");
    }
    expect(matchOne(["only"], "").ok).toBe(false);
    expect(matchOne([], "a").ok).toBe(false);
  });

  test("I2 an ambiguous prefix is refused with some of the candidates", () => {
    const two = matchOne(ids, "aa0");
    expect(two.ok ? "found" : two.error.message).toBe('"aa0" matches 2: aa01, aa02.');
    const many = matchOne(
      Array.from({ length: 9 }, (_, n) => `x${n}`),
      "x",
    );
    expect(many.ok ? "found" : many.error.message).toBe('"x" matches 9: x0, x1, x2, x3, x4, and 4 more.');
  });
});
