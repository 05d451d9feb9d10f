import { expect, test } from "bun:test";
import { fitOf, matching } from "./palette-match.ts";

test("letters must be there in order", () => {
  expect(fitOf("xt", "Terminal text")).toBeGreaterThan(0);
  expect(fitOf("zq", "Terminal")).toBeUndefined();
  expect(fitOf("lan", "nal")).toBeUndefined();
});

test("beginnings of words and letters that follow each other come first", () => {
  const all = ["Kill terminal build", "Go to terminals", "New terminal", "Go to recovery"];
  expect(matching("new t", all, (text) => text)[0]).toBe("New terminal");
  expect(matching("gr", all, (text) => text)[0]).toBe("Go to recovery");
  expect(matching("  ", all, (text) => text)).toEqual(all);
});
