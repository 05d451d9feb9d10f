// Prints entries as they are found: lines, or one JSON array piece by piece.
import type { Console } from "../../world/console.ts";
import { count, Printer, say } from "../print.ts";
import type { EntryText } from "./entry-text.ts";
import type { EntryFound, Harm } from "./merge.ts";

export async function printLines(console: Console, text: EntryText, entries: Iterable<EntryFound>): Promise<number> {
  const printer = new Printer(console.out);
  let printed = 0;
  for (const found of entries) {
    await printer.add(`${text(found)}\n`);
    printed += 1;
  }
  await printer.flush();
  return printed;
}

export async function printArray(console: Console, text: EntryText, entries: Iterable<EntryFound>): Promise<number> {
  const printer = new Printer(console.out);
  let printed = 0;
  for (const found of entries) {
    await printer.add(`${printed === 0 ? "[" : ","}\n${text(found)}`);
    printed += 1;
  }
  await printer.add(printed === 0 ? "[]\n" : "\n]\n");
  await printer.flush();
  return printed;
}

/** The reader must know that something is missing. */
export async function sayHarms(console: Console, harms: readonly Harm[]): Promise<void> {
  if (harms.length === 0) return;
  const sessions = [...new Set(harms.map(({ session }) => session))];
  const where = sessions.length === 1 ? sessions[0] : count(sessions.length, "session");
  const places = count(harms.length, "place");
  await say(
    console,
    `the log of ${where} is damaged at ${places}; the damaged part was left out.\n  → holdfast log verify`,
  );
}

/** An empty result is an answer, not an error. */
export async function sayNothing(console: Console, sessions: number): Promise<void> {
  await say(console, sessions === 0 ? "there are no sessions yet." : "there are no entries here.");
}
