import { expect, test } from "bun:test";
import type { FormParameter } from "../../wire/page/messages.ts";
import { startFields, textsOf } from "./start-form.ts";

const plain = { type: "string", isRequired: false, isSecret: false, isKnown: false, initial: null, says: "" } as const;
const PARAMETERS: readonly FormParameter[] = [
  { ...plain, name: "version", isRequired: true },
  { ...plain, name: "note", initial: "none", says: "for the log" },
  { ...plain, name: "publish", type: "boolean", initial: "false" },
  { ...plain, name: "dry", type: "boolean" },
  { ...plain, name: "tags", type: "list", initial: '["a"]' },
  { ...plain, name: "TOKEN", isRequired: true, isSecret: true },
];

test("each parameter is a field of its kind, with its default, and secrets are not shown", () => {
  const fields = startFields(PARAMETERS, "/work");
  expect(fields.map(({ name, value, isOptional = false }) => [name, value, isOptional])).toEqual([
    ["version", "", false],
    ["note", "none", true],
    ["publish", "false", true],
    ["dry", "", true],
    ["tags", '["a"]', true],
    ["TOKEN", "", false],
    ["/cwd", "/work", false],
    ["/place", "", false],
  ]);
  expect(fields.map(({ type = "text" }) => type).indexOf("password")).toBe(5);
  expect(fields[2]?.choices).toEqual(["true", "false"]);
  expect(fields[3]?.choices).toEqual(["", "true", "false"]);
  expect(fields[1]?.hint).toBe("for the log");
});

test("SF1 what was left as it was is not sent, and a text that was emptied is", () => {
  const values = { version: "1.0", note: "", publish: "false", dry: "", tags: "", TOKEN: "hush", other: "x" };
  expect(textsOf(PARAMETERS, values)).toEqual({ version: "1.0", note: "", TOKEN: "hush" });
  expect(textsOf(PARAMETERS, { ...values, publish: "true", tags: "[]", TOKEN: "" })).toEqual({
    ...{ version: "1.0", note: "", publish: "true", tags: "[]" },
  });
});
