// Claims about the TOML reader: it gives the values that Bun's parser gives, and positions, which that does not.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { amount, PROFILE } from "../../../tests/sim/fuzz/profile.ts";
import { plain } from "./source.ts";
import { readToml } from "./toml.ts";

function read(text: string): unknown {
  const found = readToml(text);
  return found.ok
    ? plain({ line: 1, column: 1, value: found.value })
    : `${found.error.line}:${found.error.column} ${found.error.message}`;
}

const GOOD = [
  "",
  "# only a comment",
  "a = 1 # why\nb = 'x # y'\r\nc = true\n",
  "\ufeffa = 1",
  "a = 1_000\nb = 0x1F\nc = 0o17\nd = 0b11\ne = -5\nf = +7\ng = 1.5e3\nh = inf\ni = -inf\nj = 0",
  'a = "q \\" \\\\ \\t \\u00e9 \\U0001F600"\nb = \'c:\\x\'',
  'a = """\n[daemon]\nx = 1 \\\n   y\n"""\nb = \'\'\'\n"[x]"\n\'\'\'',
  'a = """"x""""\nb = """a""b"""',
  'a = [1, 2,\n  # between\n  3, ]\nb = [[], ["]", "}"]]\nc = []',
  "a = {b = 1, c = {d = 'x'}}\ne = {}",
  "x.y = 1\nx . z = 2\n\"a b\".'c.d' = 3",
  '[a]\nb = 1\n[c.d]\ne = 2\n[c]\nf = 3\n[watch."b c"]\ng = 4',
  '"__proto__" = 1\n[constructor]\nx = 1',
];

describe("values", () => {
  test("are those that Bun's parser reads", () => {
    for (const text of GOOD) expect({ text, found: read(text) }).toEqual({ text, found: { ...Bun.TOML.parse(text) } });
  });

  test("also in files made of any pieces: the same values, or a problem on both sides", () => {
    const pieces = [
      "a",
      "b.c",
      '"q"',
      "=",
      "1",
      "-2.5",
      "'x'",
      '"y\\n"',
      "[",
      "]",
      "{",
      "}",
      ",",
      "\n",
      " ",
      "#",
      "true",
    ];
    const more = [
      "a = 1\n",
      "[a]\n",
      "[a.b]\n",
      "b = {c = 1}\n",
      "b.d = 2\n",
      "e = [1, 2]\n",
      '"""',
      "'''",
      "\\",
      "_",
      "é",
    ];
    const file = fc.array(fc.constantFrom(...pieces, ...more), { maxLength: 12 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(file, (text) => {
        fc.pre(!text.includes("[["));
        expect(outcome(() => ({ ...Bun.TOML.parse(text) }))).toEqual(outcome(() => orThrow(text)));
      }),
      { numRuns: amount(5_000, 20_000), seed: PROFILE.seed },
    );
  });
});

function outcome(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    if (error instanceof SyntaxError) return "a problem";
    throw error;
  }
}

function orThrow(text: string): unknown {
  const found = read(text);
  if (typeof found === "string") throw new SyntaxError(found);
  return found;
}

describe("DS-1(b) problems name line and column", () => {
  const bad: readonly (readonly [text: string, problem: string])[] = [
    ["a = ", "1:5 expected a value but found the end of the file"],
    ["a = 1\n\n  b == 2", '3:6 expected a value but found "="'],
    ['a = 1\nb = "x\nc = 2', "2:5 this string is not closed"],
    ["a = '''x\n\n", "1:7 this string is not closed"],
    ["[daemon\nx = 1", '1:8 expected "]" but found the end of the line'],
    ["a = 1 b = 2", "1:7 expected the end of the line after a value"],
    ["a: 1", '1:2 expected "=" after the key but found ":"'],
    ["é = 1", '1:1 expected a key but found "é"'],
    ['a = "\\q"', "1:6 \\q is not an escape; a backslash is \\\\"],
    ['a = "\\ud800"', "1:6 this is not a Unicode character"],
    ['a = "x\u0007"', "1:7 a string may not contain a control character; write it as \\u0000"],
    ["a = yes", "1:5 yes is not a value; texts are written in quotes"],
    ["a = 01", "1:5 01 is not a value; texts are written in quotes"],
    ["a = [1,\n 2\n b", '3:2 expected "," or "]" but found "b"'],
    ["a = 2026-01-01", "1:5 no setting takes a date or a time"],
    ["[[a]]", "1:1 no setting uses [[…]]; write [name]"],
    ["a = 1\na = 2", "2:1 a is there already: line 1"],
    ["[a]\n[b]\n[a]", "3:2 [a] is there already"],
    ["a = 1\n[a.b]", "2:2 a has a value already: line 1"],
    ["[a.b]\nx = 1\n[a]\nb.y = 2", "4:1 [b] is there already"],
    ["a = {b = 1}\n[a.c]", "2:2 a has a value already: line 1"],
    ["[a]\nx = 1\n[b]\n[a.c]\n[a]", "5:2 [a] is there already"],
    [`a = ${"[".repeat(100)}`, "1:37 too many brackets within each other"],
    [`x = 1\na${".b".repeat(100_000)} = 1`, "2:1 too many dots in one key"],
    [`[a${".b".repeat(100_000)}]`, "1:2 too many dots in one key"],
  ];

  test.each(bad)("%j", (text, problem) => {
    expect(read(text)).toBe(problem);
  });

  test("every value has its position", () => {
    const found = readToml("[a]\n\n  b = 1\n[a.c]\nd = ['x',\n 'y']\n");
    const a = found.ok ? found.value.get("a")?.value : undefined;
    if (!(a instanceof Map)) throw new Error("a is a table");
    expect(a.get("b")).toEqual({ line: 3, column: 3, value: 1 });
    expect(a.get("c")?.value.get("d")?.value[1]).toEqual({ line: 6, column: 2, value: "y" });
  });
});
