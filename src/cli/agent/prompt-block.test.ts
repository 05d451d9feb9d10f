import { expect, test } from "bun:test";
import type { Json } from "../../base/json.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { promptBlock, toolText } from "./prompt-block.ts";

const widthOf = (text: string) => Bun.stringWidth(text);
const VIEW = { columns: 80, widthOf, minutesAhead: () => 60, now: Date.parse("2026-01-01T00:00:00Z") };

function prompt(tool: string, input: Json): ListedPrompt {
  const times = { since: "2026-01-01T00:00:00.000Z", deadline: "2026-01-07T23:30:00.000Z", state: "open" } as const;
  const who = { id: "0123456789abcdef", agent: "a".repeat(32), name: "lead" };
  return { ...who, tool, input, ...times, stage: "WaitingForClient" };
}

/** What the lines with a bar say, with the wrapped ones joined again. */
function readBack(block: string): string[] {
  const lines: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("│ ")) lines.push(line.slice(2));
    if (line.startsWith("┆ ")) lines[lines.length - 1] += line.slice(2);
  }
  return lines;
}

test("a prompt is a block: who asks, since when, for what, and each argument by its name", () => {
  expect(promptBlock(prompt("Bash", { command: "rm -rf build", timeout: 5 }), VIEW)).toBe(
    [
      "prompt  0123456789abcdef",
      "agent   lead (aaaaaaaa)",
      "tool    Bash",
      "since   2026-01-01 01:00:00 +01:00, 6 d 23 h left",
      "input   31 characters in 2 lines",
      "│ command: rm -rf build",
      "│ timeout: 5",
      "",
    ].join("\n"),
  );
});

test("PR1 the whole input is there, whatever its length and width, and no row is wider than the window", () => {
  const long = "x".repeat(70_000);
  const wide = "漢字".repeat(500);
  const input = { long, wide, lines: "a\n  b\n\nc", list: ["bash", "-lc", "y".repeat(200)], text: "5", none: "" };
  const block = promptBlock(prompt("Bash", input), VIEW);
  expect(Math.max(...block.split("\n").map(widthOf))).toBeLessThanOrEqual(80);
  expect(readBack(block)).toEqual([
    ...[`long: ${long}`, `wide: ${wide}`, "lines:", "  a", "    b", "  ", "  c", "list:"],
    ...["  [", '    "bash",', '    "-lc",', `    "${"y".repeat(200)}"`, "  ]", 'text: "5"', 'none: ""'],
  ]);
  expect(readBack(promptBlock(prompt("Bash", "just text"), VIEW))).toEqual(["just text"]);
  expect(readBack(promptBlock(prompt("Bash", {}), VIEW))).toEqual(["(no arguments)"]);
});

test("PR2, PR3 nothing in a prompt can forge a line, hide, or change the order of what is read", () => {
  const hostile = [
    ...[
      "ls\nprompt  ffffffffffffffff\nagent   root",
      "\r\u001b[2J\u001b[H",
      "a\u0000b",
      "\u202egnp.exe",
      "\u200b\u00ad\ufeff",
    ],
    ...["rm -rf /\u00a0tmp", "\u{e0041}\u{e0042}", "\u3164", "\ud800", "\u2028x", "e\u0301\u0301\u0301", "a\tb"],
  ];
  for (const text of hostile) {
    const block = promptBlock(prompt(text, { [text]: text, other: [text] }), VIEW);
    const lines = block.split("\n").slice(0, -1);
    const heads = lines.filter((line) => !/^[│┆] /.test(line));
    expect(heads.map((line) => line.slice(0, 8))).toEqual(["prompt  ", "agent   ", "tool    ", "since   ", "input   "]);
    expect(lines.join("")).not.toMatch(/[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u);
    expect(block).not.toContain("\u00a0");
  }
  expect(promptBlock(prompt("T", { a: "\u{e0041}\tx" }), VIEW)).toContain("│ a: \\udb40\\udc41\\tx\n");
});

test("PR3 the name of a tool takes one line: a long one is cut, with its length", () => {
  expect([toolText("Bash", widthOf), toolText("", widthOf)]).toEqual(["Bash", "(no name)"]);
  const cut = toolText(`Read${" ".repeat(200)}Bash`, widthOf);
  expect(cut).toMatch(/^Read +… \(208 characters\)$/);
  expect(widthOf(cut)).toBeLessThanOrEqual(60);
});
