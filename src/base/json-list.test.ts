import { expect, test } from "bun:test";
import fc from "fast-check";
import { isList, type Json, jsonIn } from "./json.ts";
import { listParts } from "./json-list.ts";

const listed = (text: string): readonly Json[] | undefined => {
  const parts = [...listParts(new TextEncoder().encode(text))];
  return parts.at(-1) && parts.flatMap((part) => part ?? []);
};

const expected = (text: string): readonly Json[] | undefined => {
  const value = jsonIn(text);
  return isList(value) ? value : undefined;
};

test("JL1 a short text is a list if it is one for JSON.parse, with the same values", () => {
  const texts = ["[]", " [ ] \n", "[1]", '["a,]", "\\"]", [2, {"b": [3]}]]\n', "[[]]", "[null,null]"];
  const others = [
    "",
    " ",
    "1",
    "{}",
    "[",
    "[1",
    "[1,]",
    "[,1]",
    "[1,,2]",
    "[1}",
    "[{1]]",
    "[1] 2",
    "[1]]",
    '["a]',
    "a",
  ];
  for (const text of [...texts, ...others])
    expect({ text, list: listed(text) }).toEqual({ text, list: expected(text) });
});

test("JL1 a list of many parts and pieces is read as it was written, whatever is at their borders", () => {
  const strings = fc.string({ unit: "grapheme", minLength: 0, maxLength: 30 });
  fc.assert(
    fc.property(fc.array(fc.oneof(strings, fc.jsonValue()), { minLength: 1, maxLength: 20 }), (values) => {
      const text = JSON.stringify(values).slice(1, -1);
      const many = `[${Array.from({ length: Math.ceil(150_000 / text.length) }, () => text).join(" ,\n")}]`;
      expect({ list: listed(many) }).toEqual({ list: expected(many) });
    }),
    { numRuns: 10 },
  );
});

test("JL2 a mistake at the end of a long text makes it none", () => {
  const long = Array.from({ length: 80_000 }, (_, at) => `{"name": "ä-${at}"}`).join(",");
  expect(long.length).toBeGreaterThan(1 << 20); // Several pieces.
  expect(listed(`[${long}]`)?.length).toBe(80_000);
  for (const end of ["", ",]", "}", "] x", ",,1]"])
    expect({ end, list: listed(`[${long}${end}`) }).toEqual({ end, list: undefined });
});
