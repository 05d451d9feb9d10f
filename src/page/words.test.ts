import { expect, test } from "bun:test";
import {
  agoText,
  browserText,
  commandText,
  count,
  leftText,
  programText,
  sentence,
  shortPath,
  sizeText,
  spanText,
} from "./words.ts";

test.each([
  [-5, "0 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [3_599_999, "59 min"],
  [3_600_000, "1 h"],
  [47 * 3_600_000, "47 h"],
  [48 * 3_600_000, "2 d"],
])("%d ms are %s", (ms, text) => {
  expect(spanText(ms)).toBe(text);
});

test("a time that is not known has no age, and a deadline that has passed says so", () => {
  expect([agoText(null, 0), agoText("never", 0), agoText("1970-01-01T00:00:00Z", 61_000)]).toEqual(["–", "–", "1 min"]);
  expect(leftText("1970-01-01T01:00:00Z", 0)).toBe("1 h left");
  expect(leftText("1970-01-01T01:00:00Z", 3_600_000)).toBe("its time is over");
});

test("numbers and sizes", () => {
  expect([count(1, "entry", "entries"), count(0, "run")]).toEqual(["1 entry", "0 runs"]);
  expect([sizeText(0), sizeText(1023), sizeText(1536), sizeText(3 * 2 ** 30)]).toEqual([
    "0 B",
    "1023 B",
    "1.5 KB",
    "3.0 GB",
  ]);
});

test("a reason becomes a sentence", () => {
  expect([sentence("its holder is gone"), sentence("It ended.")]).toEqual(["Its holder is gone.", "It ended."]);
});

test("a long path keeps its end, and a command can be pasted into a shell", () => {
  expect(shortPath("/a/b")).toBe("/a/b");
  expect(shortPath("/usr/share/some/where/deep/in/the/tree/project", 20)).toBe("…/the/tree/project");
  expect(commandText(["git", "commit", "-m", "it's done"])).toBe("git commit -m 'it'\\''s done'");
  expect([programText(["/bin/sh", "/a b"]), programText([])]).toEqual(["sh '/a b'", "''"]);
});

test("a browser has a name that people know", () => {
  const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36";
  expect(browserText(chrome)).toBe("Chrome on Linux");
  expect(browserText(`${chrome} Edg/140.0`)).toBe("Edge on Linux");
  expect(browserText("Mozilla/5.0 (Macintosh; Intel Mac OS X) Version/18 Safari/605")).toBe("Safari on Mac");
  expect(browserText("curl/8")).toBe("curl/8");
});
