// Tables: aligned, and in a narrow window without what matters least.
import { expect, test } from "bun:test";
import { fakeConsole } from "../../tests/cli/fake-console.ts";
import { wordWrapped } from "./fold.ts";
import { columns, commandTable, listText, narrowed, sparingTable, tableText } from "./table.ts";

const widthOf = (text: string) => Bun.stringWidth(text);
const ROWS = [
  ["NAME", "PROGRAM", "DIRECTORY", "CLIENTS"],
  ["work", "sh -c while sleep 1; do date; done", "/srv/projects/holdfast/deep", "0"],
  ["漢字", "vim", "/srv", "12"],
];
const CUTS = [
  { column: 1, keeps: "start" },
  { column: 2, keeps: "end" },
] as const;

const widest = (width: number) =>
  Math.max(...columns(narrowed(ROWS, CUTS, width, widthOf), widthOf).map((line) => widthOf(line)));

test("rows that fit are unchanged", () => {
  expect(narrowed(ROWS, CUTS, 200, widthOf)).toEqual(ROWS);
  expect(narrowed(ROWS, CUTS, Number.POSITIVE_INFINITY, widthOf)).toEqual(ROWS);
  expect(narrowed([], CUTS, 10, widthOf)).toEqual([]);
});

test("columns are cut just enough, the first before the second, and the last column stays whole", () => {
  for (let width = 39; width < 80; width += 1) expect(widest(width)).toBeLessThanOrEqual(width);
  expect(widest(70)).toBe(70);
  const [, row] = narrowed(ROWS, CUTS, 60, widthOf);
  expect(row).toEqual(["work", "sh -c while sle…", "/srv/projects/holdfast/deep", "0"]);
});

test("a directory keeps its end, a program its start, and both enough to be recognized", () => {
  const [head, row] = narrowed(ROWS, CUTS, 1, widthOf);
  expect(head).toEqual(ROWS[0]);
  expect(row).toEqual(["work", "sh -c whi…", "…fast/deep", "0"]);
});

test("TB1 a table in a window fits it, whatever may be cut; elsewhere nothing is cut", () => {
  for (let width = 12; width < 80; width += 1)
    for (const line of tableText(fakeConsole({ tty: true, columns: width }), ROWS, CUTS).split("\n"))
      expect(widthOf(line)).toBeLessThanOrEqual(width);
  expect(tableText(fakeConsole(), ROWS, CUTS)).toContain(
    "sh -c while sleep 1; do date; done  /srv/projects/holdfast/deep",
  );
});

const SENTENCES = [
  [
    "needs you",
    "terminal build",
    "its process was lost and it asks before it is restarted",
    "→ holdfast restore build",
  ],
  ["back", "terminal a", "it runs", "→ holdfast attach a"],
];

test("TB1 sentences that do not fit go below the first cells, between words; commands stay whole", () => {
  const wide = listText(fakeConsole({ tty: true, columns: 200 }), SENTENCES, 2);
  expect(wide).toBe(listText(fakeConsole(), SENTENCES, 2));
  expect(wide.split("\n").length).toBe(3);
  expect(listText(fakeConsole({ tty: true, columns: 40 }), SENTENCES, 2)).toBe(
    [
      "needs you  terminal build",
      "  its process was lost and it asks",
      "  before it is restarted",
      "  → holdfast restore build",
      "back       terminal a",
      "  it runs",
      "  → holdfast attach a",
      "",
    ].join("\n"),
  );
  expect(wordWrapped("a lengthy/path/name b", 6, widthOf)).toEqual(["a", "lengthy/path/name", "b"]);
});

const RUNS = [
  ["ID", "NAME", "NEXT", "WORKTREE"],
  ["cf2575c2", "release-of-it-all", "holdfast resume cf2575c2", "/srv/worktrees/one"],
  ["80e03a3f", "other", "", ""],
];

test("TB1 commands that do not fit go below their rows, whole; elsewhere they are a column", () => {
  const how = { column: 2, cuts: [{ column: 3, keeps: "end" }] } as const;
  expect(commandTable(fakeConsole({ tty: true, columns: 200 }), RUNS, how)).toBe(tableText(fakeConsole(), RUNS));
  expect(commandTable(fakeConsole(), RUNS, how)).toBe(tableText(fakeConsole(), RUNS));
  expect(commandTable(fakeConsole({ tty: true, columns: 40 }), RUNS, how).split("\n")).toEqual([
    "ID        NAME               WORKTREE",
    "cf2575c2  release-of-it-all  …ktrees/one",
    "  → holdfast resume cf2575c2",
    "80e03a3f  other",
    "",
  ]);
});

test("TB1 columns that can be spared are left out in turn, and only if cutting is not enough", () => {
  const table = [
    ["RUN", "NAME", "SIZE", "VALID"],
    ["cf2575c2", "release-of-it-all", "5448 B", "yes"],
  ];
  const at = (columns: number) =>
    sparingTable(fakeConsole({ tty: true, columns }), table, ["SIZE", "NAME"], ["NAME"])
      .split("\n")
      .slice(0, 2);
  expect(at(80)).toEqual(columns(table, widthOf));
  expect(at(35)).toEqual(["RUN       NAME        SIZE    VALID", "cf2575c2  release-o…  5448 B  yes"]);
  expect(at(27)).toEqual(["RUN       NAME        VALID", "cf2575c2  release-o…  yes"]);
  expect(at(20)).toEqual(["RUN       VALID", "cf2575c2  yes"]);
});
