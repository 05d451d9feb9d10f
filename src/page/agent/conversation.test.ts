import { expect, test } from "bun:test";
import type { HistoryPiece } from "../../core/agent/history.ts";
import { isSameItem, itemsOf } from "./conversation.ts";

/** Rows of entries 1, 2, 3 …, each with its pieces. */
function rows(...entries: readonly (readonly HistoryPiece[])[]) {
  return entries.flatMap((pieces, at) => pieces.map((piece) => ({ ...piece, seq: at + 1, at: "" })));
}

const began: HistoryPiece = { kind: "turn", turn: 1, what: "began", text: "" };
const said = (text: string, part = false): HistoryPiece => ({ kind: "text", text, part });
const complete = (text: string): HistoryPiece => ({ kind: "turn", turn: 1, what: "complete", text });
const tool = (use: string): HistoryPiece => ({ kind: "tool", use, tool: "Bash", input: {} });
const result = (use: string): HistoryPiece => ({ kind: "result", use, tool: "", ok: true, text: use });

test("CO1 a tool has its result, also if others were called in between; a second result stands alone", () => {
  const items = itemsOf(rows([tool("a"), tool("b")], [result("b")], [said("x"), result("a")], [result("a")]));
  expect(items.map((item) => (item.kind === "tool" ? `${item.call.use}=${item.result?.text}` : item.kind))).toEqual([
    "a=a",
    "b=b",
    "text",
    "result",
  ]);
});

test("CO1 a question has its answer", () => {
  const asked: HistoryPiece = { kind: "asked", prompt: "p", tool: "Bash", input: {} };
  const answered: HistoryPiece = { kind: "answered", prompt: "p", decision: "allow", by: "rule", text: "", rule: "r" };
  expect(itemsOf(rows([asked], [said("x")], [answered]))).toMatchObject([
    { kind: "question", answer: { rule: "r" } },
    { kind: "text" },
  ]);
});

test("CO2 pieces of a text are joined, and a response that was said is not said again", () => {
  const items = itemsOf(rows([began], [said("Hel"), said("lo", true)], [said(" you", true)], [complete("Hello you")]));
  expect(items.map((item) => ("text" in item ? item.text : item.kind))).toEqual(["", "Hello you", ""]);
  const other = itemsOf(rows([began], [said("Hello")], [complete("Bye")]));
  expect(other.at(-1)).toMatchObject({ kind: "turn", text: "Bye" });
});

test("CO3 a window that begins in the middle shows all of its rows", () => {
  const answered: HistoryPiece = { kind: "answered", prompt: "p", decision: "deny", by: "user", text: "" };
  expect(itemsOf(rows([result("gone")], [answered], [said("rest", true)], [complete("rest")]))).toMatchObject([
    { kind: "result" },
    { kind: "answer" },
    { kind: "text", text: "rest" },
    { kind: "turn", text: "" },
  ]);
});

test("an item is the same while nothing of it has changed, and another once its result is there", () => {
  const all = rows([said("a"), tool("t")], [result("t")]);
  const [before = [], now = []] = [itemsOf(all.slice(0, 2)), itemsOf(all)];
  const same = now.map((item, at) => isSameItem(item, before[at] ?? item));
  expect([same, itemsOf(all).every((item, at) => isSameItem(item, now[at] ?? item))]).toEqual([[true, false], true]);
});

test("the keys of items stay when the window grows at its beginning", () => {
  const all = rows([began], [said("a"), tool("t"), said("b")], [result("t")], [said("c")]);
  const keys = (from: number) => itemsOf(all.slice(from)).map(({ key }) => key);
  expect(keys(1)).toEqual(keys(0).slice(1));
  expect(new Set(keys(0)).size).toBe(5);
});
