// `holdfast log tail`: the last events, and with --follow the new ones as they become durable.
import { ok } from "../../base/result.ts";
import { command, EXIT, type Exit, type Outside } from "../command-world.ts";
import { DurableEnd } from "./durable.ts";
import { entryText } from "./entry-text.ts";
import { follow } from "./follow.ts";
import { lastEntries } from "./last.ts";
import { printArray, printLines, sayNothing } from "./print-entries.ts";
import type { TailFlags } from "./routes.ts";
import { endOf, isRunning, type Opened, openView } from "./view.ts";

async function tail(outside: Outside, flags: TailFlags, key?: string): Promise<Exit> {
  const opened = await openView(outside, flags, key);
  if (!opened.ok) return opened;
  const { console } = outside;
  const { home, view, sessions } = opened.value;
  const until = flags.follow ? shownFirst(outside, opened.value) : endOf(view);
  const { entries, cursors } = lastEntries(outside, opened.value, flags.lines, until);
  const text = entryText(console, flags.json === true, until);
  const print = flags.json && !flags.follow ? printArray : printLines;
  const printed = await print(console, text, entries);
  if (!flags.follow) {
    if (printed === 0 && !flags.json) await sayNothing(console, sessions.length);
    return ok(EXIT.ok);
  }
  const session = key === undefined ? undefined : sessions[0];
  await follow(outside, { home, session, cursors, shown: until }, async (more) => {
    await printLines(console, text, more);
    return "more";
  });
  return ok(EXIT.ok);
}

/** Beside a writer only what is on disk for certain; where nobody writes, also what a recovery would bring. */
export function shownFirst(outside: Outside, opened: Opened): number {
  const end = isRunning(outside, opened.home) ? new DurableEnd(outside.disk).of(opened) : endOf(opened.view);
  return Number.isFinite(end) ? end : new DurableEnd(outside.disk).of(opened);
}

export const tailCommand = command(tail);
