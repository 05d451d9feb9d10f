// Claims about the words of a search, and where its hits lead.
import { expect, test } from "bun:test";
import type { LineHit } from "../../wire/rpc/search.ts";
import { pieces, placeOf, wordsIn } from "./results.ts";

test("words are split at spaces, unless they are in quotes, and there are not too many", () => {
  expect(wordsIn('  one "two words" three"four" "')).toEqual(["one", "two words", "three", "four"]);
  expect(wordsIn("")).toEqual([]);
  expect(wordsIn("x ".repeat(100))).toHaveLength(16);
  expect(wordsIn("y".repeat(1000))[0]).toHaveLength(200);
});

test("words are marked wherever they are, whatever characters they have", () => {
  expect(pieces("An a.b AND a.B", ["a.b", "an"])).toEqual(["", "An", " ", "a.b", " ", "AN", "D ", "a.B", ""]);
  expect(pieces("text", [])).toEqual(["text"]);
});

test("a hit leads to the moment of a terminal, the entry of an agent, the run, or what has the name", () => {
  const line: LineHit = { kind: "terminal", id: "t/1", name: "t", position: 42, at: "", text: "" };
  expect(placeOf(line)).toBe("#/terminals/t%2F1?at=42");
  expect(placeOf({ ...line, kind: "prompt" })).toBe("#/agents/t%2F1?at=42");
  expect(placeOf({ ...line, kind: "run" })).toBe("#/workflows/t%2F1");
  expect(placeOf({ ...line, kind: "run", attempt: 3 })).toBe("#/workflows/t%2F1?at=3");
  expect(placeOf({ kind: "name", of: "agent", id: "a", name: "a", at: "", text: "" })).toBe("#/agents/a");
});
