import { expect, test } from "bun:test";
import { agentOf, listsOf, promptOf, terminalOf } from "../../../tests/cli/top-lists.ts";
import { frameOf, type View } from "./layout.ts";
import { changedRows, drawnLine } from "./paint.ts";
import { FIRST, noted, type TopState } from "./state.ts";

const EVIL = "\u001b]0;owned\u0007\u001b[2J\n\u202e\u200b\u{e0041}漢字 ".repeat(3);

function stateOf(selected: string | undefined, hostile: string): TopState {
  const prompts = [promptOf("p1", { name: hostile, tool: hostile, input: { [hostile]: [hostile], command: hostile } })];
  const children = Array.from({ length: 40 }, (_, at) => agentOf(`c${at}`, { parent: "a1", note: hostile }));
  const failure = { turn: 1, reason: hostile, at: hostile };
  const agents = [agentOf("a1", { name: hostile, provider: hostile, cwd: hostile, failure }), ...children];
  const state = noted(FIRST, { lists: listsOf({ prompts, agents }), isUp: true, message: hostile });
  return { ...state, selected };
}

function drawn(state: TopState, cols: number, rows: number): string[] {
  const view: View = { size: { cols, rows }, widthOf: Bun.stringWidth, minutesAhead: () => 0 };
  return frameOf(state, view).lines.map((line) => drawnLine(line, cols, view));
}

const ESC = "\u001b";
/** Without our own colours. */
const bare = (line: string) => line.replaceAll(new RegExp(`${ESC}\\[[127]?m`, "g"), "");

test("LA1 PT1 at every size a frame has the rows of the window, none too wide, and no character of a hostile name is raw", () => {
  const modes: TopState["mode"][] = [
    ...[{ kind: "list" } as const, { kind: "read" } as const, { kind: "help" } as const],
    ...[{ kind: "send", to: { kind: "agent", of: agentOf("a1", { name: EVIL }) }, text: EVIL } as const],
    ...[{ kind: "interrupt", of: { kind: "prompt", of: promptOf("p1", { name: EVIL }) } } as const],
  ];
  for (const mode of modes)
    for (const selected of [undefined, "prompt p1", "agent a1", "agent c20"])
      for (const rows of [1, 2, 3, 5, 12, 24])
        for (const cols of [2, 21, 80]) {
          const lines = drawn({ ...stateOf(selected, EVIL), mode }, cols, rows).map(bare);
          expect(lines).toHaveLength(rows);
          expect(lines.join("")).not.toMatch(/[\p{C}\p{Default_Ignorable_Code_Point}]/u);
          expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBeLessThan(Math.max(2, cols));
        }
});

test("the selected row and what is known about it are in view at 80 × 24, however long the list is", () => {
  const lines = drawn(stateOf("agent c20", "note"), 80, 24).map(bare);
  expect(lines.filter((line) => line.startsWith("▸"))).toEqual([expect.stringContaining("c20")]);
  expect(lines).toContain("agent      c20 (c20)");
  expect(lines.at(-1)).toContain("i interrupt");
});

test("a terminal with an agent CLI in front shows which, what it does and its conversation", () => {
  const agent = { name: "claude", state: "waiting", session: "3f2a81c0-1111-4222-8333-444455556666" } as const;
  const lists = listsOf({ terminals: [terminalOf("t1", { agent }), terminalOf("t2")] });
  const state = { ...noted(FIRST, { lists, isUp: true, message: "" }), selected: "terminal t1" };
  const lines = drawn(state, 80, 24).map(bare);
  expect(lines.find((line) => line.startsWith("▸"))).toContain("claude waiting 3f2a81c0");
  expect(lines.find((line) => line.includes("t2"))).toContain("bash");
  expect(lines).toContain("agent      claude waiting 3f2a81c0");
});

test("PT2 only rows that differ are written", () => {
  const [before, after] = [drawn(stateOf("agent c20", "note"), 80, 24), drawn(stateOf("agent c21", "note"), 80, 24)];
  expect(changedRows(before, before)).toBe("");
  expect(changedRows([], after).match(new RegExp(`${ESC}\\[\\d+;1H`, "g"))).toHaveLength(24);
  expect(changedRows(["a", "b"], ["a", "c"])).toBe("\u001b[2;1H\u001b[2Kc");
  expect(changedRows(before, after)).not.toContain("AGENTS");
});
