// Breaks lines that are wider than the window between words; a terminal would break them in the middle of a word.
// FO1. A command ("→ …") is never broken, so that it can be copied, and neither is a word. Elsewhere nothing is broken.
// FO2. What continues a line is indented below its text: only first rows begin at the left edge.
import type { Console, Output } from "../world/console.ts";

type WidthOf = Console["widthOf"];

/** FO1 */
const COMMAND = /^\s*→ /;
/** What comes before the text of a line: our name, or the first columns of a list. */
const HEAD = /^(?:holdfast: |\s*(?:-\w\s+)?\S+(?: \S+)*?\s{2,}|\s*)/;
/** Below a line without a head, and below one whose head takes more than half of the window. */
const STEP = "    ";

/** The text as it is printed here: all of its lines fit, if that can be (FO1). */
export function foldedFor(output: Output, widthOf: WidthOf, text: string): string {
  return output.tty ? folded(text, output.columns(), widthOf) : text;
}

export function folded(text: string, width: number, widthOf: WidthOf): string {
  return text
    .split("\n")
    .flatMap((line) => rowsOf(line, width, widthOf))
    .join("\n");
}

/** FO2 */
function rowsOf(line: string, width: number, widthOf: WidthOf): string[] {
  if (widthOf(line) <= width || COMMAND.test(line)) return [line];
  const head = HEAD.exec(line)?.[0] ?? "";
  const text = line.slice(head.length);
  if (widthOf(head) > width / 2)
    return [head.trimEnd(), ...wordWrapped(text, width - 2 * STEP.length, widthOf).map((row) => STEP + STEP + row)];
  const indent = head.trim() === "" ? (head === "" ? "" : STEP) : " ".repeat(widthOf(head));
  const room = width - Math.max(widthOf(head), indent.length);
  return wordWrapped(text, room, widthOf).map((row, at) => `${at === 0 ? head : indent}${row}`);
}

/** Breaks a text between words; a word that is longer than a line keeps it to itself. */
export function wordWrapped(text: string, width: number, widthOf: WidthOf): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(`${last} ${word}`) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A line of prose that the next one continues: it ends within a sentence. */
const UNFINISHED = /^\S.*[^.:\s]$/;

/** Help for this window: where a line does not fit, those of a paragraph are joined first and broken anew. */
export function foldedHelp(output: Output, widthOf: WidthOf, text: string): string {
  const lines = text.split("\n");
  if (!output.tty || lines.every((line) => widthOf(line) <= output.columns())) return text;
  const joined: string[] = [];
  for (const line of lines) {
    const last = joined.at(-1) ?? "";
    if (UNFINISHED.test(last) && /^\S/.test(line)) joined[joined.length - 1] = `${last} ${line}`;
    else joined.push(line);
  }
  return foldedFor(output, widthOf, joined.join("\n"));
}
