import { expect, test } from "bun:test";
import type { Json } from "../../base/json.ts";
import { evaluate, truth } from "./evaluate.ts";
import { namesIn, parseExpression } from "./expression.ts";
import { fill, fillDeep, holds } from "./template.ts";

const VALUES: Readonly<Record<string, Json>> = {
  n: 3,
  text: "7",
  name: "a b",
  list: [1, "two", { deep: true }],
  item: { dir: "/x", "odd-name": 1, none: null },
};
const scope = { look: (name: string): Json | undefined => VALUES[name] };

function worth(text: string): unknown {
  const parsed = parseExpression(text);
  if (!parsed.ok) return `${parsed.error.at}: ${parsed.error.message}`;
  const value = evaluate(parsed.value, scope);
  return value.ok ? value.value : value.error.code;
}

test.each([
  ["1 + 2 * 3", 7],
  ["(1 + 2) * 3", 9],
  ["10 - 2 - 3", 5],
  ["-n + 1", -2],
  ["text + 1", 8],
  ["text > n", true],
  ["text == 7", true],
  ["name + '!'", "a b!"],
  ["!n || n >= 3 && text != '8'", true],
  ["list[2].deep", true],
  ["list[-1].deep", true],
  ["item['odd-name']", 1],
  ["len(list) + len('abc') + len(item)", 9],
  ["defined(item.dir) && !defined(item.nothing.at.all) && !defined(item.none)", true],
  ["default(item.nothing, 'x')", "x"],
  ["contains(list, 'two') && contains(name, 'b')", true],
  ["upper(trim('  a ')) + lower('B')", "Ab"],
  ["json('[1]')[0]", 1],
  ["${n} > 2", true],
  ["starts_with(name, 'a') && ends_with(name, 'b')", true],
  ['list == json(\'[1, "two", {"deep": true}]\')', true],
  ["'it\\'s' + \"\\n\"", "it's\n"],
  ["null == null && true != false", true],
  ["number(text) % 4", 3],
  ["text(n) + 'x'", "3x"],
])("%s has the expected value", (text, value) => {
  expect(worth(text)).toEqual(value);
});

test.each([
  ["item.missing", "unset"],
  ["nothing", "unset"],
  ["nothing.at.all", "unset"],
  ["'a' * 2", "not-a-number"],
  ["1 / 0", "not-a-number"],
  ["json('{')", "not-json"],
  ["file(n)", "no-file"],
  ["constructor", "unset"],
  ["item.constructor", "unset"],
])("E1 %s is refused as %s, never empty", (text, code) => {
  const own = { look: (name: string) => (Object.hasOwn(VALUES, name) ? VALUES[name] : undefined) };
  const parsed = parseExpression(text);
  const value = parsed.ok ? evaluate(parsed.value, own) : undefined;
  expect(value?.ok === false ? value.error.code : value).toBe(code);
});

test.each([
  ["1 +", 3],
  ["a b", 2],
  ["(a", 2],
  ["a[1", 3],
  ["nosuch(1)", 0],
  ["len()", 0],
  ["'open", 0],
  ["a ? b", 2],
  [`${"(".repeat(80)}1`, 64],
])("X2 the error in %s is reported at character %d", (text, at) => {
  const parsed = parseExpression(text);
  expect(parsed.ok ? undefined : parsed.error.at).toBe(at);
});

test("the names that an expression looks up are found, wherever they are", () => {
  const parsed = parseExpression("a.b[c] + len(d) > -e && !f");
  expect(parsed.ok ? namesIn(parsed.value).map(({ name }) => name) : []).toEqual(["a", "c", "d", "e", "f"]);
});

test("false, null, 0, empty texts and their printed forms are not true", () => {
  const values: Json[] = [false, null, 0, "", "0", "false\n", []];
  expect(values.map(truth)).toEqual(values.map(() => false));
  expect([true, 1, "no", [0], {}].map(truth)).toEqual([true, true, true, true, true]);
});

test("P1 a single ${…} is the value itself; within text it is text", () => {
  expect(fill("${list}", scope)).toEqual({ ok: true, value: VALUES["list"] ?? null });
  expect(fill("<${list[1]}:${n + 1}:${item.none}>", scope)).toEqual({ ok: true, value: "<two:4:>" });
  expect(fillDeep({ a: ["${n}", { b: "x${text}" }], c: 1 }, scope)).toEqual({
    ok: true,
    value: { a: [3, { b: "x7" }], c: 1 },
  });
});

test("P2 $${ is a literal ${", () => {
  expect(fill("$${HOME} ${n} $x", scope)).toEqual({ ok: true, value: "${HOME} 3 $x" });
});

test("a template that is invalid or has no value is refused", () => {
  expect(
    [fill("${n", scope), fill("${nope}", scope), fillDeep(["${nope}"], scope), holds("n >", scope)].map(({ ok }) => ok),
  ).toEqual([false, false, false, false]);
});
