// `holdfast agent log` and `holdfast agent follow`: what an agent did, and what it is doing. Both read its log on disk,
// so a daemon that dies and comes back changes nothing for the person watching.
// LG1. Each row of an agent's text begins with a `>`, and each line of ours with a `·`: an agent's text cannot pass for
//      what Holdfast says (TE4 of event-formatter.ts). No character of it is invisible, or moves the cursor.
// LG3. When following, text is shown as it comes, through the daemon (partials.ts); what is on disk has the last word.
// LG2. When following, text is printed as it arrives, without time, and lines of ours are cut to the window. In the log
//      nothing is cut: a row that continues one of ours begins with a `┆`, and only a row with a time begins an entry;
//      the first row has a time as well.

import { localTime } from "../../base/local-time.ts";
import { ok, type Result } from "../../base/result.ts";
import { visibleProse } from "../../base/visible.ts";
import type { PartialText } from "../../wire/rpc/partial.ts";
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
import { listen, PartialSeries } from "./partials.ts";
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
  const isRaw = flags.json === true || flags.all === true;
  if (!isRaw) return tellLast(console, flags.lines, (count) => lastEntries(world, opened, count, until).entries);
  const { entries } = lastEntries(world, opened, flags.lines, until);
  const raw = entryText(console, flags.json === true, until);
  if (flags.json) await printArray(console, raw, entries);
  else await printLines(console, raw, entries);
  if (entries.length === 0 && !flags.json) await sayNothing(console, 1);
  return ok(EXIT.ok);
}

/** Most events are bookkeeping, and some are many lines: more of them are read until there are enough lines. */
async function tellLast(
  console: Console,
  lines: number,
  last: (count: number) => readonly EntryFound[],
): Promise<Result<number>> {
  for (let count = lines; ; count *= 4) {
    const entries = last(count);
    const rows = new ToldLog(rowView(console, console.out)).rows(entries);
    if (rows.length < lines && entries.length === count) continue;
    await console.out.write(textOf(rows.slice(Math.max(0, rows.length - lines))));
    if (rows.length === 0) await sayNothing(console, 1);
    return ok(EXIT.ok);
  }
}

export type ToldRow = { readonly time: string; readonly row: string; readonly isFirst: boolean };

export function textOf(rows: readonly ToldRow[]): string {
  const shown = ({ time, row, isFirst }: ToldRow, at: number) =>
    `${isFirst || at === 0 ? time : " ".repeat(time.length)}${row}\n`;
  return rows.map(shown).join("");
}

/** Entries formatted for people, each with its time. */
export class ToldLog {
  readonly #teller: AgentEventFormatter;
  readonly #view: RowView;

  constructor(view: RowView) {
    this.#teller = new AgentEventFormatter(view);
    this.#view = view;
  }

  rows(entries: readonly EntryFound[]): ToldRow[] {
    const told = entries.flatMap(({ entry }) => {
      const time = `${localTime(this.#view, entry.ts)}  `;
      return this.#teller.tellEntry(entry).map((words) => ({ words, time }));
    });
    return joined(told).flatMap(({ words, time }) =>
      this.#rows(words, time.length).map((row, at) => ({ time, row, isFirst: at === 0 })),
    );
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
  const { partial } = sight;
  const listening = over || partial === undefined ? undefined : listen(world, following.home, found.value.id, partial);
  if (!over) await follow(world, following, async (more) => ((await sight.show([...more])) ? "enough" : "more"));
  listening?.stop();
  await sight.close();
  return ok(EXIT.ok);
}

/** `show` returns whether the agent has ended. */
type HistoryView = {
  show(entries: readonly EntryFound[]): Promise<boolean>;
  /** LG3 */
  partial?(partial: PartialText): void;
  close(): Promise<void>;
};

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
  const series = new PartialSeries();
  const writing = new Writing(console.out);
  const words = (told: Told): string => {
    if (told.kind === "text") return rest(series.whole(told));
    const lines = told.line.split("\n").map((line) => `${cut(console, OURS + visibleProse(line))}\n`);
    return said.end() + lines.join("");
  };
  const rest = ({ text, part }: { readonly text: string; readonly part: boolean }) => said.text(text, part);
  const show = async (entries: readonly EntryFound[]) => {
    for (const { entry } of entries) {
      const text = teller.tellEntry(entry).map(words).join("");
      series.told(entry);
      await writing.write(text);
    }
    return withEnd(entries);
  };
  const partial = (piece: PartialText) => {
    const next = writing.isFull ? undefined : series.next(piece);
    if (next !== undefined) void writing.write(rest(next));
  };
  return { show, partial, close: () => writing.write(said.end()) };
}

/** LG3. A terminal that does not keep up must not make them pile up: each text comes as a whole, later. */
const MAX_WAITING = 64 << 10;

/** One after the other, in order. */
class Writing {
  readonly #out: Console["out"];
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(out: Console["out"]) {
    this.#out = out;
  }

  get isFull(): boolean {
    return this.#waiting > MAX_WAITING;
  }

  write(text: string): Promise<void> {
    if (text === "") return this.#last;
    this.#waiting += text.length;
    this.#last = this.#last.then(async () => {
      await this.#out.write(text);
      this.#waiting -= text.length;
    });
    return this.#last;
  }
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
