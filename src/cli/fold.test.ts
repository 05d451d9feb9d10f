import { expect, test } from "bun:test";
import { fakeConsole } from "../../tests/cli/fake-console.ts";
import { folded, foldedFor, foldedHelp } from "./fold.ts";

const { widthOf } = fakeConsole();
const at = (width: number, text: string) => folded(text, width, widthOf).split("\n");

test("FO1 lines are broken between words; commands, long words and what is no window are left alone", () => {
  expect(at(20, "a line that is too long\nshort")).toEqual(["a line that is too", "long", "short"]);
  expect(at(10, "  → holdfast attach work")).toEqual(["  → holdfast attach work"]);
  expect(at(12, "page  http://127.0.0.1:41521/")).toEqual(["page  http://127.0.0.1:41521/"]);
  const wide = "word ".repeat(40);
  expect(foldedFor(fakeConsole().out, widthOf, wide)).toBe(wide);
  expect(foldedFor(fakeConsole({ tty: true }).out, widthOf, wide)).not.toBe(wide);
});

test("FO2 what continues a line is below its text, or indented if its head is too wide", () => {
  expect(at(30, "holdfast: there are two runs of it.")).toEqual(["holdfast: there are two runs", "          of it."]);
  expect(at(20, "ok       service: not installed")).toEqual([
    "ok       service:",
    "         not",
    "         installed",
  ]);
  expect(at(30, "needs you  run a (cf2575c2) failed: it ended")).toEqual([
    "needs you  run a (cf2575c2)",
    "           failed: it ended",
  ]);
  expect(at(24, "  -d [--detach]   Do not attach to it")).toEqual([
    "  -d [--detach]",
    "        Do not attach to",
    "        it",
  ]);
  expect(at(24, "  holdfast new [--detach] [<name>]")).toEqual(["  holdfast new", "    [--detach] [<name>]"]);
});

test("help is broken anew if it does not fit; a line that ends a sentence stays a line", () => {
  const text = "It opens a terminal and\nattaches to it.\nWithout a name: any.\n\nFLAGS\n  --json  As JSON";
  expect(foldedHelp(fakeConsole({ tty: true, columns: 40 }).out, widthOf, text)).toBe(text);
  expect(foldedHelp(fakeConsole({ tty: true, columns: 20 }).out, widthOf, text).split("\n")).toEqual([
    "It opens a terminal",
    "and attaches to it.",
    "Without a name: any.",
    "",
    "FLAGS",
    "  --json  As JSON",
  ]);
});
