// `holdfast agent log` and `holdfast agent follow`: what an agent did, and what it is doing. Both read its log on disk,
// so
// a daemon that dies and comes back changes nothing for the person watching.
// LG1. When following, text is printed as the agent wrote it, without time; a line stays a line. Each line of it begins
//      with a `>`, and each of ours with a `·`: an agent's text cannot pass for what Holdfast says (TE4 of
//      event-formatter.ts).

import { ok } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import type { Console } from "../../world/console.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { entryText } from "../log/entry-text.ts";
import { follow } from "../log/follow.ts";
import { lastEntries } from "../log/last.ts";
import type { EntryFound } from "../log/merge.ts";
import { printArray, printLines, sayNothing } from "../log/print-entries.ts";
import { endOf } from "../log/view.ts";
import { fit } from "../print.ts";
import { AgentEventFormatter, joined, QUOTE, type Told } from "./event-formatter.ts";
import { fromNow, hasEnded, isEnd, openAgentLog } from "./session.ts";

export type AgentLogFlags = DataFlags & { readonly lines: number; readonly all?: boolean };
export type FollowFlags = DataFlags & { readonly lines: number };

async function log(world: DaemonCommandWorld, flags: AgentLogFlags, key: string): Promise<Exit> {
  const found = await openAgentLog(world, flags, key);
  if (!found.ok) return found;
  const { console } = world;
  const { opened } = found.value;
  const until = endOf(opened.view);
  const { entries } = lastEntries(world, opened, flags.lines, until);
  const raw = entryText(console, flags.json === true, until);
  if (flags.json) await printArray(console, raw, entries);
  else if (flags.all) await printLines(console, raw, entries);
  else await console.out.write(visible(new ToldLog().text(entries)));
  if (entries.length === 0 && !flags.json) await sayNothing(console, 1);
  return ok(EXIT.ok);
}

/** Entries formatted for people, each with its time. */
export class ToldLog {
  readonly #teller = new AgentEventFormatter();

  text(entries: readonly EntryFound[]): string {
    const told = entries.flatMap(({ entry }) => {
      const time = `${entry.ts.slice(0, 19)}  `;
      return this.#teller.tellEntry(entry).map((words) => ({ words, time }));
    });
    return joined(told)
      .map(({ words, time }) => `${framed(words, time)}\n`)
      .join("");
  }
}

/** Continuation lines are indented below the first. */
function framed(told: Told, time: string): string {
  const text = told.kind === "line" ? told.line : marked(told.text.replace(/\n$/, ""));
  return time + text.replaceAll("\n", `\n${" ".repeat(time.length)}`);
}

function marked(text: string): string {
  return QUOTE + text.replaceAll("\n", `\n${QUOTE}`);
}

async function followAgent(world: DaemonCommandWorld, flags: FollowFlags, key: string): Promise<Exit> {
  const found = await openAgentLog(world, flags, key);
  if (!found.ok) return found;
  const { console } = world;
  const { entries, following } = fromNow(world, found.value.opened, flags.lines);
  const sight = flags.json ? jsonSight(console) : wordSight(console);
  const over = (await sight.show(entries)) || hasEnded(world, found.value.opened, following.shown);
  if (!over) await follow(world, following, async (more) => ((await sight.show([...more])) ? "enough" : "more"));
  await sight.close();
  return ok(EXIT.ok);
}

/** `show` returns whether the agent has ended. */
type HistoryView = { show(entries: readonly EntryFound[]): Promise<boolean>; close(): Promise<void> };

function withEnd(entries: readonly EntryFound[]): boolean {
  return entries.some(({ entry }) => isEnd(entry));
}

function jsonSight(console: Console): HistoryView {
  const text = entryText(console, true, Number.POSITIVE_INFINITY);
  return {
    show: async (entries) => {
      await printLines(console, text, entries);
      return withEnd(entries);
    },
    close: async () => undefined,
  };
}

/** LG1 */
function wordSight(console: Console): HistoryView {
  const teller = new AgentEventFormatter();
  const said = new MarkedText(console);
  const words = (told: Told): string => {
    if (told.kind === "text") return said.text(told.text, told.part);
    const lines = told.line.split("\n").map((line) => `${cut(console, `· ${visibleLine(line)}`)}\n`);
    return said.end() + lines.join("");
  };
  const show = async (entries: readonly EntryFound[]) => {
    const text = entries.flatMap(({ entry }) => teller.tellEntry(entry).map(words));
    if (text.length > 0) await console.out.write(text.join(""));
    return withEnd(entries);
  };
  return { show, close: () => console.out.write(said.end()) };
}

/** LG1. Text that comes in pieces. On a terminal each row begins with the mark: a long line has to stay marked, too. */
class MarkedText {
  readonly #columns: number;
  readonly #widthOf: (text: string) => number;
  /** Where the last piece ended; 0 at the beginning of a line. */
  #column = 0;

  constructor({ out, widthOf }: Console) {
    this.#columns = out.tty ? out.columns() : Number.POSITIVE_INFINITY;
    this.#widthOf = widthOf;
  }

  /** The end of a line that is not complete. */
  end(): string {
    const end = this.#column === 0 ? "" : "\n";
    this.#column = 0;
    return end;
  }

  text(text: string, isPart: boolean): string {
    let shown = isPart ? "" : this.end();
    for (const character of visible(text)) shown += this.#next(character);
    return shown;
  }

  #next(character: string): string {
    const width = character === "\n" ? 0 : this.#widthOf(character);
    const isFull = this.#column + width > this.#columns;
    const before = (isFull ? this.end() : "") + (this.#column === 0 ? QUOTE : "");
    this.#column = character === "\n" ? 0 : Math.max(this.#column, QUOTE.length) + width;
    return before + character;
  }
}

function cut({ out, widthOf }: Console, line: string): string {
  return out.tty ? fit(line, out.columns(), widthOf) : line;
}

export const agentLogCommand = withDaemonWorld(log);
export const followCommand = withDaemonWorld(followAgent);
