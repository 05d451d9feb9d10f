// Writes a frame to a terminal.
// PT1. Every line passes `plainLine` here, at the last moment: nothing that an agent, a program or a file has named or
//      written reaches the terminal as it is. Only what is in this file is written without it.
// PT2. Only rows that differ from what is there are written; if none does, nothing is.
import { plainLine } from "../../base/visible.ts";
import type { Console } from "../../world/console.ts";
import { fit } from "../print.ts";

export type Line = { readonly text: string; readonly look: "plain" | "head" | "dim" | "marked" };

const ESC = "\u001b";
const LOOKS: Readonly<Record<Line["look"], string>> = { plain: "", head: "1", dim: "2", marked: "7" };

/** The alternate screen, no cursor, marks around what is pasted, and no line that continues in the next row. */
export const BEGIN = `${ESC}[?1049h${ESC}[?25l${ESC}[?2004h${ESC}[?7l${ESC}[2J`;
export const FAREWELL = `${ESC}[m${ESC}[?7h${ESC}[?2004l${ESC}[?25h${ESC}[?1049l`;
export const CLEAR = `${ESC}[2J`;

/** PT1. The last column stays empty: some terminals mistake a full row for the beginning of the next. */
export function drawnLine({ text, look }: Line, columns: number, { widthOf }: Pick<Console, "widthOf">): string {
  const shown = fit(plainLine(text), Math.max(1, columns - 1), widthOf);
  return look === "plain" ? shown : `${ESC}[${LOOKS[look]}m${shown}${ESC}[m`;
}

/** PT2 */
export function changedRows(before: readonly string[], after: readonly string[]): string {
  return after.map((line, at) => (line === before[at] ? "" : `${ESC}[${at + 1};1H${ESC}[2K${line}`)).join("");
}
