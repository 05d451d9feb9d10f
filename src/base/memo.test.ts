import { expect, test } from "bun:test";
import { memo } from "./memo.ts";

test("M1 a text is computed once, until a thousand other texts follow", () => {
  const asked: string[] = [];
  const length = memo((text) => asked.push(text) && text.length);
  expect([length("abc"), length("abc"), asked.length]).toEqual([3, 3, 1]);
  for (let at = 0; at < 1000; at += 1) length(`${at}`);
  expect([length("abc"), asked.filter((text) => text === "abc").length]).toEqual([3, 2]);
});
