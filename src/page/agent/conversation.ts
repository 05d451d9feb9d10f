// An agent's conversation as it is shown: its rows, with what belongs together in one item. Pure.
// CO1. A tool and its result are one item, and so are a question and its answer, if both are there.
// CO2. Text that came in pieces is one item. A response that was said already is not shown twice.
// CO3. Every row is in an item, whatever is missing around it: a window of the conversation begins anywhere.
import type { HistoryRow } from "../../wire/rpc/agent.ts";

type Row<K extends HistoryRow["kind"]> = Extract<HistoryRow, { readonly kind: K }>;

export type Item =
  | Row<"message">
  | Row<"turn">
  | Row<"text">
  | Row<"life">
  | { readonly kind: "tool"; readonly call: Row<"tool">; readonly result: Row<"result"> | undefined }
  | { readonly kind: "result"; readonly result: Row<"result"> }
  | { readonly kind: "question"; readonly asked: Row<"asked">; readonly answer: Row<"answered"> | undefined }
  | { readonly kind: "answer"; readonly answer: Row<"answered"> };

/** `key`: the same however the window moves. */
export type ShownItem = Item & { readonly key: string; readonly seq: number; readonly at: string };

/** Whether both look the same: their texts are, and they are made of the same rows. */
export function isSameItem(one: ShownItem, other: ShownItem): boolean {
  const [mine, theirs] = [Object.entries(one), new Map<string, unknown>(Object.entries(other))];
  return mine.length === theirs.size && mine.every(([name, value]) => theirs.get(name) === value);
}

/** What is shown so far, and where in it the tools and questions are that wait for what belongs to them. */
type Shown = {
  readonly items: ShownItem[];
  readonly tools: Map<string, number>;
  readonly questions: Map<string, number>;
};

export function itemsOf(rows: readonly HistoryRow[]): ShownItem[] {
  const shown: Shown = { items: [], tools: new Map(), questions: new Map() };
  for (const [at, row] of rows.entries()) {
    if (isJoined(shown, row)) continue;
    if (row.kind === "tool") shown.tools.set(row.use, shown.items.length);
    if (row.kind === "asked") shown.questions.set(row.prompt, shown.items.length);
    const key = `${row.seq}.${at - firstOf(rows, at)}`;
    shown.items.push({ ...itemOf(unsaid(shown.items, row)), key, seq: row.seq, at: row.at });
  }
  return shown.items;
}

/** CO1, CO2. Whether it became a part of an earlier item. */
function isJoined({ items, tools, questions }: Shown, row: HistoryRow): boolean {
  if (row.kind === "result") return joinResult(items, tools, row);
  if (row.kind === "answered") return joinAnswer(items, questions, row);
  return row.kind === "text" && row.part && joinText(items, row);
}

/** CO2 */
function unsaid(items: readonly ShownItem[], row: HistoryRow): HistoryRow {
  return row.kind === "turn" && isSaid(items, row) ? { ...row, text: "" } : row;
}

/** Where the rows of an entry begin. */
function firstOf(rows: readonly HistoryRow[], at: number): number {
  let first = at;
  while (first > 0 && rows[first - 1]?.seq === rows[at]?.seq) first -= 1;
  return first;
}

function itemOf(row: HistoryRow): Item {
  if (row.kind === "tool") return { kind: "tool", call: row, result: undefined };
  if (row.kind === "result") return { kind: "result", result: row };
  if (row.kind === "asked") return { kind: "question", asked: row, answer: undefined };
  return row.kind === "answered" ? { kind: "answer", answer: row } : row;
}

/** CO1 */
function joinResult(shown: ShownItem[], tools: ReadonlyMap<string, number>, result: Row<"result">): boolean {
  const at = tools.get(result.use);
  const item = at === undefined ? undefined : shown[at];
  if (at === undefined || item?.kind !== "tool" || item.result !== undefined) return false;
  shown[at] = { ...item, result };
  return true;
}

/** CO1 */
function joinAnswer(shown: ShownItem[], questions: ReadonlyMap<string, number>, answer: Row<"answered">): boolean {
  const at = questions.get(answer.prompt);
  const item = at === undefined ? undefined : shown[at];
  if (at === undefined || item?.kind !== "question") return false;
  shown[at] = { ...item, answer };
  return true;
}

/** CO2 */
function joinText(shown: ShownItem[], { text }: Row<"text">): boolean {
  const last = shown.at(-1);
  if (last?.kind !== "text") return false;
  shown[shown.length - 1] = { ...last, text: last.text + text };
  return true;
}

/** CO2. In this turn, as far as it is there. */
function isSaid(shown: readonly ShownItem[], { what, text }: Row<"turn">): boolean {
  if (what !== "complete") return false;
  const began = shown.findLastIndex((item) => item.kind === "turn" && item.what === "began");
  const said = shown.slice(began + 1).flatMap((item) => (item.kind === "text" ? [item.text] : []));
  return said.join("").trimEnd().endsWith(text.trimEnd()) || said.some((one) => one.trim() === text.trim());
}
