// A valid value of any shape (src/wire/shape.ts).
import type { Json } from "../../../../src/base/json.ts";
import { fitting } from "../../../../src/wire/check.ts";
import type { Shape } from "../../../../src/wire/shape.ts";
import type { Message } from "./seeds.ts";

/** One of these fits every text that has rules. */
const TEXTS = ["x", "/u", "SIGINT", `${"0".repeat(12)}4${"0".repeat(3)}8${"0".repeat(15)}`];
for (const length of [22, 64, 87]) TEXTS.push("0".repeat(length));

export function exampleOf(shape: Shape): Message {
  const value = valueFor(shape);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("it is not an object");
  return Object.fromEntries(Object.entries(value));
}

function valueFor(shape: Shape): Json {
  switch (shape.kind) {
    case "text":
      return TEXTS.find((text) => fitting(shape, text) !== undefined) ?? "";
    case "whole":
      return Math.max(shape.least, 1);
    case "number":
      return 1;
    case "flag":
      return true;
    case "literal":
      return shape.of[0] ?? null;
    case "list":
      return [valueFor(shape.of)];
    case "table":
      return { x: valueFor(shape.of) };
    case "object":
      return Object.fromEntries(Object.entries(shape.fields).map(([name, field]) => [name, valueFor(field)]));
    case "either":
      return valueFor(shape.of.at(-1) ?? shape);
    case "later":
      return valueFor(shape.shape());
    default:
      return { any: ["json"] };
  }
}
