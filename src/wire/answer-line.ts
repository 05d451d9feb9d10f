// The answers of a program of ours to numbered requests, a JSON line each: `{n, ok, value}` or `{n, ok, error}`.
import { ok, type Refusal, type Result } from "../base/result.ts";
import { fitting } from "./check.ts";
import { object, type Shape, text } from "./shape.ts";

const REFUSAL: Shape<Refusal> = object({ code: text, message: text, hint: text });

type NumberedAnswer = { readonly n: number; readonly answer: Result<unknown> };

export function parseAnswer(fields: Readonly<Record<string, unknown>>): NumberedAnswer | undefined {
  const { n, ok: fine, value, error } = fields;
  if (typeof n !== "number") return undefined;
  if (fine === true) return { n, answer: ok(value) };
  const refusal = fitting(REFUSAL, error);
  return refusal === undefined ? undefined : { n, answer: { ok: false, error: refusal } };
}
