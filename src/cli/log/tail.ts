// `holdfast log tail`: the last events, and with --follow new ones as they become durable.
import { ok } from "../../base/result.ts";
import { type CommandWorld, command, EXIT, type Exit } from "../command-world.ts";
import type { DataFlags } from "../flags.ts";
import { DurableEnd } from "./durable.ts";
import { entryText } from "./entry-text.ts";
import { follow } from "./follow.ts";
import { lastEntries } from "./last.ts";
import { printArray, printLines, sayNothing } from "./print-entries.ts";
import { endOf, isRunning, type Opened, openView } from "./view.ts";

export type TailFlags = DataFlags & { readonly lines: number; readonly follow?: boolean };

async function tail(world: CommandWorld, flags: TailFlags, key?: string): Promise<Exit> {
  const opened = await openView(world, flags, key);
  if (!opened.ok) return opened;
  const { console } = world;
  const { home, view, sessions } = opened.value;
  const until = flags.follow ? shownFirst(world, opened.value) : endOf(view);
  const { entries, cursors } = lastEntries(world, opened.value, flags.lines, until);
  const text = entryText(console, flags.json === true, until);
  const print = flags.json && !flags.follow ? printArray : printLines;
  const printed = await print(console, text, entries);
  if (!flags.follow) {
    if (printed === 0 && !flags.json) await sayNothing(console, sessions.length);
    return ok(EXIT.ok);
  }
  const session = key === undefined ? undefined : sessions[0];
  await follow(world, { home, session, cursors, shown: until }, async (more) => {
    await printLines(console, text, more);
    return "more";
  });
  return ok(EXIT.ok);
}

/** While a daemon is writing, only what is certainly on disk; otherwise also what a recovery would restore. */
export function shownFirst(world: CommandWorld, opened: Opened): number {
  const end = isRunning(world, opened.home) ? new DurableEnd(world.disk).of(opened) : endOf(opened.view);
  return Number.isFinite(end) ? end : new DurableEnd(world.disk).of(opened);
}

export const tailCommand = command(tail);
