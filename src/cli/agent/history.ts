// `holdfast agent log` and `holdfast agent follow`: what an agent did, and what it is doing. Both read its log on disk,
// so a daemon that dies and comes back changes nothing for the person watching.
// LG1. Each row of an agent's text begins with a `>`, and each line of ours with a `·`: an agent's text cannot pass for
//      what Holdfast says (TE4 of event-formatter.ts). No character of it is invisible, or moves the cursor.
// LG2. When following, text is printed as it arrives, without time, and lines of ours are cut to the window. In the log
//      nothing is cut: a row that continues one of ours begins with a `┆`, and only a row with a time begins an entry.

import { localTime } from "../../base/local-time.ts";
import { ok } from "../../base/result.ts";
import { visibleProse } from "../../base/visible.ts";
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
import { fit, wrapped } from "../print.ts";
import { AgentEventFormatter, joined, OURS, QUOTE, type Told } from "./event-formatter.ts";
import { GOES_ON, MIN_COLUMNS, type RowView, rowView } from "./prompt-block.ts";
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
  else await console.out.write(new ToldLog(rowView(console, console.out)).text(entries));
  if (entries.length === 0 && !flags.json) await sayNothing(console, 1);
  return ok(EXIT.ok);
}

/** Entries formatted for people, each with its time. */
export class ToldLog {
  readonly #teller: AgentEventFormatter;
  readonly #view: RowView;

  constructor(view: RowView) {
    this.#teller = new AgentEventFormatter(view);
    this.#view = view;
  }

  text(entries: readonly EntryFound[]): string {
    const told = entries.flatMap(({ entry }) => {
      const time = `${localTime(this.#view, entry.ts)}  `;
      return this.#teller.tellEntry(entry).map((words) => ({ words, time }));
    });
    return joined(told)
      .flatMap(({ words, time }) =>
        this.#rows(words, time.length).map((row, at) => `${at === 0 ? time : " ".repeat(time.length)}${row}\n`),
      )
      .join("");
  }

  /** LG1, LG2 */
  #rows(told: Told, indent: number): string[] {
    const [mark, next] = told.kind === "line" ? [OURS, GOES_ON] : [QUOTE, QUOTE];
    const text = told.kind === "line" ? told.line : told.text.replace(/\n$/, "");
    const { columns, widthOf } = this.#view;
    const room = Math.max(columns - indent - mark.length, MIN_COLUMNS);
    return text
      .split("\n")
      .flatMap((line) =>
        wrapped(visibleProse(line), room, widthOf).map((row, at) => `${at === 0 ? mark : next}${row}`),
      );
  }
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
  const teller = new AgentEventFormatter(console);
  const said = new MarkedText(console);
  const words = (told: Told): string => {
    if (told.kind === "text") return said.text(told.text, told.part);
    const lines = told.line.split("\n").map((line) => `${cut(console, OURS + visibleProse(line))}\n`);
    return said.end() + lines.join("");
  };
  const show = async (entries: readonly EntryFound[]) => {
    const text = entries.flatMap(({ entry }) => teller.tellEntry(entry).map(words));
    if (text.length > 0) await console.out.write(text.join(""));
    return withEnd(entries);
  };
  return { show, close: () => console.out.write(said.end()) };
}

/** LG1, LG2. Text that comes in pieces. On a terminal each row begins with the mark, also those of a long line. */
class MarkedText {
  readonly #columns: number;
  readonly #widthOf: (text: string) => number;
  /** Where the last piece ended; 0 at the beginning of a line. */
  #column = 0;

  constructor(console: Console) {
    this.#columns = rowView(console, console.out).columns;
    this.#widthOf = console.widthOf;
  }

  /** The end of a line that is not complete. */
  end(): string {
    const end = this.#column === 0 ? "" : "\n";
    this.#column = 0;
    return end;
  }

  text(text: string, isPart: boolean): string {
    let shown = isPart ? "" : this.end();
    for (const character of visibleProse(text)) shown += this.#next(character);
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
