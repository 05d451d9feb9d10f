// Claims about the one checker of everything that arrives.
import { describe, expect, test } from "bun:test";
import { check, fitting } from "./check.ts";
import * as s from "./shape.ts";
import { problemOf } from "./shape-text.ts";

const STEP: s.Shape = s.closed({ name: s.text, next: s.optional({ kind: "later", name: "step", shape: () => STEP }) });
const THING = s.object({
  id: s.textOf({ pattern: /^[a-z]+$/, expected: "letters" }),
  size: s.whole(1, 10),
  kind: s.literal("a", "b"),
  note: s.nullable(s.text),
  tags: s.optional(s.list(s.text, 1)),
  env: s.optional(s.table(s.text, /^[A-Z]+$/)),
  more: s.optional(s.json),
});
const GOOD = { id: "x", size: 1, kind: "a", note: null } as const;

function problems(shape: s.Shape, value: unknown): string[] {
  const checked = check(shape, value);
  return checked.ok ? [] : checked.error.map((problem) => problemOf(problem, "it"));
}

describe("what passes", () => {
  test("is returned as it is, with fields of a newer version", () => {
    const value = { ...GOOD, tags: ["t"], env: { PATH: "/" }, newer: 1 };
    expect(fitting(THING, value)).toBe(value);
    const { size, tags }: s.Infer<typeof THING> = value;
    expect([size, tags]).toEqual([1, ["t"]]);
  });

  test("an optional field may be left out or be undefined", () => {
    expect(problems(THING, { ...GOOD, tags: undefined })).toEqual([]);
  });

  test("all fields of a partial object may be left out, but not be wrong", () => {
    const shape = s.closed(s.partial({ a: s.count, b: s.flag }));
    expect(problems(shape, {})).toEqual([]);
    expect(problems(shape, { a: -1 })).toEqual(["a is -1; it takes a whole number from 0 on"]);
  });
});

describe("what does not", () => {
  test.each([
    [undefined, "it is not JSON; it takes names and values (id, size, kind, note …)"],
    [[], "it is an empty list; it takes names and values (id, size, kind, note …)"],
    [{ ...GOOD, id: "X" }, 'id is "X"; it takes letters'],
    [{ ...GOOD, size: 11 }, "size is 11; it takes a whole number from 1 to 10"],
    [{ ...GOOD, size: 1.5 }, "size is 1.5; it takes a whole number from 1 to 10"],
    [{ ...GOOD, kind: "c" }, 'kind is "c"; it takes one of "a", "b"'],
    [{ ...GOOD, note: 1 }, "note is 1; it takes null, or a text"],
    [{ ...GOOD, tags: [] }, "tags is an empty list; it takes a list that is not empty"],
    [{ ...GOOD, tags: ["a", {}] }, "tags.2 is names and values; it takes a text"],
    [{ ...GOOD, env: { path: "/" } }, "env.path has a name that cannot be used"],
    [{ ...GOOD, env: { A: "x".repeat(100), B: 2 } }, "env.B is 2; it takes a text"],
  ])("%j is reported with its path, what was found and what is expected", (value, problem) => {
    expect(problems(THING, value)).toEqual([problem]);
  });

  test("is reported all at once", () => {
    const found = problems(THING, { id: 1, kind: "a", note: null, tags: [1, 2] });
    expect(found.map((line) => line.split(" ")[0])).toEqual(["id", "size", "tags.1", "tags.2"]);
  });

  test("a closed object names the fields that it does not have, at any depth", () => {
    const checked = check(STEP, { name: "a", next: { name: "b", nxet: 1 } });
    expect(checked.ok ? [] : checked.error.map(({ what, path }) => [what, path])).toEqual([
      ["unknown field", ["next", "nxet"]],
    ]);
  });

  test("names of the prototype are fields only if they were written", () => {
    const shape = s.closed({ constructor: s.text, toString: s.any });
    expect(problems(shape, {})).toHaveLength(2);
    expect(problems(s.closed({}), JSON.parse('{"__proto__": 1, "constructor": 2}'))).toHaveLength(2);
    expect(problems(s.table(s.text), JSON.parse('{"__proto__": 1}'))).toEqual(["__proto__ is 1; it takes a text"]);
  });

  test("a value that is nested too deeply is refused, not followed", () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(problems(s.json, nested(200))).toEqual([]);
    expect(problems(s.json, nested(201))).toEqual([
      "it is a list; it takes any value that is nested at most 200 levels deep",
    ]);
    let step: unknown = { name: "last" };
    for (let n = 0; n < 300; n += 1) step = { name: "x", next: step };
    expect(problems(STEP, step).map((one) => one.split(" ")[1])).toEqual(["is", "is"]);
    expect(problems(STEP, { name: "x", size: 1 })).toEqual(["there is no field size"]);
  });
});

test("values whose shape is marked are visited, with their path, by the shape that took them", () => {
  const seen: unknown[] = [];
  const shape = s.list(s.either(s.textOf({ as: "template" }), s.table(s.textOf({ as: "shell" }))));
  check(shape, ["a", { b: "c" }, 5], (value, as, path) => seen.push([value, as, path]));
  expect(seen).toEqual([
    ["a", "template", [0]],
    ["c", "shell", [1, "b"]],
  ]);
});
