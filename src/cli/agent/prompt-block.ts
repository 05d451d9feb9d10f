// A permission prompt as a person reads it before they answer: all of it, and nothing that could be taken for something
// else.
// PR1. The whole input is shown, however long it is: wrapped to the window, never cut.
// PR2. Every line of it begins with a bar: `│` for a line of its own, `┆` if it continues the one above. Whatever an
//      agent writes, it cannot write a line without one.
// PR3. Every character can be seen (`plainLine`). The name of a tool has one line; a longer one is cut, with its
//      length.
// PR4. An argument begins at the bar; the lines of a long text are indented below its name.
import { shortId } from "../../base/ids.ts";
import { isRecord, type Json, jsonIn } from "../../base/json.ts";
import { localTime } from "../../base/local-time.ts";
import { plainLine } from "../../base/visible.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import type { Console, Output } from "../../world/console.ts";
import { count, fit, wrapped } from "../print.ts";
import { spanText } from "./row.ts";

/** Where a block is printed. */
export type RowView = Pick<Console, "widthOf" | "minutesAhead"> & { readonly columns: number };
export type BlockView = RowView & { readonly now: number };

/** As wide as the window; elsewhere nothing is wrapped. */
export function rowView({ widthOf, minutesAhead }: Pick<Console, "widthOf" | "minutesAhead">, output: Output): RowView {
  return { columns: output.tty ? output.columns() : Number.POSITIVE_INFINITY, widthOf, minutesAhead };
}

export function blockView(console: Console, output: Output, now: number): BlockView {
  return { ...rowView(console, output), now };
}

const BAR = "│ ";
/** Of a row that continues the one above. */
export const GOES_ON = "┆ ";
/** PR3. No provider's own tool has a longer name. */
const TOOL_CELLS = 60;
/** Narrower windows wrap by themselves. */
export const MIN_COLUMNS = 20;

export function promptBlock(prompt: ListedPrompt, view: BlockView): string {
  const { id, name, agent, tool, input, since, deadline, state } = prompt;
  const left = state === "open" ? `, ${spanText(Date.parse(deadline) - view.now)} left` : `, ${state}`;
  const lines = inputLines(input);
  const size = lines.reduce((sum, line) => sum + line.length, 0);
  return [
    `prompt  ${id}`,
    `agent   ${plainLine(name)} (${shortId(agent)})`,
    `tool    ${toolText(tool, view.widthOf)}`,
    `since   ${localTime(view, since)}${left}`,
    `input   ${count(size, "character")} in ${count(lines.length, "line")}`,
    ...barredLines(lines, view),
    "",
  ].join("\n");
}

/** The whole input alone (PR1, PR2). */
export function inputRows(input: Json, view: RowView): string[] {
  return barredLines(inputLines(input), view);
}

function barredLines(lines: readonly string[], view: RowView): string[] {
  return lines.flatMap((line) => barred(plainLine(line), view));
}

/** PR3 */
export function toolText(tool: string, widthOf: (text: string) => number): string {
  const shown = plainLine(tool);
  if (widthOf(shown) <= TOOL_CELLS) return shown === "" ? "(no name)" : shown;
  const length = ` (${tool.length} characters)`;
  return `${fit(shown, TOOL_CELLS - length.length, widthOf)}${length}`;
}

/** PR4 */
export function inputLines(input: Json): string[] {
  if (!isRecord(input)) return valueLines(input);
  const given = Object.entries(input);
  return given.length === 0 ? ["(no arguments)"] : given.flatMap(([name, value]) => argumentLines(name, value));
}

function argumentLines(name: string, value: Json): string[] {
  const label = /^[\w.-]+$/.test(name) ? name : JSON.stringify(name);
  const [first = "", ...more] = valueLines(value);
  return more.length === 0 ? [`${label}: ${first}`] : [`${label}:`, first, ...more].map(indentedAfterFirst);
}

function indentedAfterFirst(line: string, at: number): string {
  return at === 0 ? line : `  ${line}`;
}

/** A text is shown as it is, unless it could be taken for another kind of value. */
function valueLines(value: Json): string[] {
  if (typeof value !== "string") return JSON.stringify(value, null, isSmall(value) ? undefined : 2).split("\n");
  return value === "" || jsonIn(value) !== undefined ? [JSON.stringify(value)] : value.split("\n");
}

/** A value that fits into a line is easier to read there. */
function isSmall(value: Json): boolean {
  return JSON.stringify(value).length <= TOOL_CELLS;
}

/** PR1, PR2 */
function barred(line: string, { columns, widthOf }: RowView): string[] {
  const rows = wrapped(line, Math.max(columns, MIN_COLUMNS) - BAR.length, widthOf);
  return rows.map((row, at) => `${at === 0 ? BAR : GOES_ON}${row}`);
}
