import { expect, test } from "bun:test";
import fc from "fast-check";
import { diffOf, folded } from "./diff.ts";

const marks = { kept: " ", removed: "-", added: "+" };
const shown = (before: string, after: string) => diffOf(before, after).map(({ kind, text }) => `${marks[kind]}${text}`);

test("a changed line is removed and added between the lines that stay", () => {
  expect(shown("a\nb\nc\n", "a\nB\nc\n")).toEqual([" a", "-b", "+B", " c"]);
  expect(shown("", "a\nb")).toEqual(["+a", "+b"]);
  expect(shown("a\nb\nc", "b\nc\nd")).toEqual(["-a", " b", " c", "+d"]);
});

test("DF1 the kept and removed lines are the old text, the kept and added ones the new text", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 30 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffOf(before, after);
      const joined = (without: string) =>
        lines
          .filter(({ kind }) => kind !== without)
          .map((line) => line.text)
          .join("\n");
      const trimmed = (one: string) => one.replace(/\n$/, "");
      expect(joined("added")).toBe(trimmed(before));
      expect(joined("removed")).toBe(trimmed(after));
    }),
  );
});

test("DF2 what would take long is shown as a whole", () => {
  const many = (mark: string) => Array.from({ length: 3000 }, (_, at) => `${mark}${at}`).join("\n");
  const lines = diffOf(many("a"), many("b"));
  expect([lines.length, lines[0]?.kind, lines.at(-1)?.kind]).toEqual([6000, "removed", "added"]);
});

test("DF3 kept lines far from a change are folded, and counted", () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`);
  const rows = folded(diffOf(lines.join("\n"), lines.with(10, "changed").join("\n")));
  expect(rows.map((row) => (row.kind === "fold" ? `fold ${row.lines}` : `${row.kind} ${row.text}`))).toEqual([
    "fold 7",
    ...["kept line 7", "kept line 8", "kept line 9", "removed line 10", "added changed"],
    ...["kept line 11", "kept line 12", "kept line 13"],
    "fold 6",
  ]);
});
