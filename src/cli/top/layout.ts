// The screen of `holdfast top` as lines: above the list, below it what is known about the selected row.
// LA1. A frame has as many lines as the window has rows, whatever its size; each is one row, cut at its width.
// LA2. Nothing in a frame depends on the time: if nothing happens, it stays the same, and nothing is written.
import { shortId } from "../../base/ids.ts";
import { localTime } from "../../base/local-time.ts";
import { plainLine } from "../../base/visible.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import type { Size } from "../../world/children.ts";
import type { Console } from "../../world/console.ts";
import { inputRows, MIN_COLUMNS, toolText } from "../agent/prompt-block.ts";
import { fit, wrapped } from "../print.ts";
import { columns } from "../table.ts";
import { visibleFrom } from "../terminal/picker.ts";
import type { Line } from "./paint.ts";
import { countsOf, detailsOf, nameOf, type Row, receiverOf, sectionsOf, type Target, targetOf } from "./rows.ts";
import { isSame, type Seen, type TopState, within } from "./state.ts";

export type View = Pick<Console, "widthOf" | "minutesAhead"> & { readonly size: Size };
/** `shown`: as Seen has it, but only of this frame. */
export type Frame = { readonly lines: readonly Line[]; readonly shown: Seen };

/** The first line, the message, and the keys. */
const FIXED = 3;
/** Wider cells are cut, except the last of a row. */
const CELL = 24;
const HINT = "↑ ↓ select a row, p the next prompt.";

const HELP = [
  "↑ ↓ j k   select another row; while reading, scroll",
  "p         select the next prompt",
  "PgUp PgDn scroll what is shown of the selected row; Home, End, Space",
  "Enter     attach to a terminal (Ctrl-\\ comes back); read anything else",
  "a         allow the prompt, once its end was in view",
  "d         deny the prompt",
  "s         send a message to the agent, or a line to the terminal",
  "i, y      interrupt the agent's turn, the run, or what runs in the terminal",
  "Esc       back to the list; q, Ctrl-C leave: everything keeps running",
];

export function frameOf(state: TopState, view: View): Frame {
  const { rows } = view.size;
  const body = Math.max(0, rows - FIXED);
  const target = targetOf(state.lists, state.selected);
  const list = listLines(state, view);
  const details =
    state.mode.kind === "help" ? rowsIn(HELP, view) : target === undefined ? [] : detailRows(target, view);
  const split = splitOf(state, { body, list: list.lines.length, details: details.length });
  const scroll = within(state.scroll, split.page, details.length);
  const middle = [
    ...cut(list.lines, list.at, split.list),
    ...(split.page > 0 ? [titleLine(state, target, { ...split, scroll, rows: details.length })] : []),
    ...details.slice(scroll, scroll + split.page).map(plain),
  ];
  const filled = [...middle, ...Array.from({ length: Math.max(0, body - middle.length) }, () => plain(""))];
  const all = [
    headLine(state),
    ...filled,
    plain(messageOf(state, view)),
    { text: keysOf(state, target), look: "dim" } as const,
  ];
  const shown = { order: list.order, page: split.page, rows: details.length };
  const isWhole = view.size.cols > MIN_COLUMNS && scroll + split.page >= details.length;
  return {
    lines: rows < FIXED ? all.slice(-rows) : all, // LA1
    shown: {
      ...shown,
      prompt: split.page > 0 && target?.kind === "prompt" ? { of: target.of, toEnd: isWhole } : undefined,
    },
  };
}

/** What was seen, once the frame is drawn. */
export function seenAfter({ shown }: Frame, before: Seen): Seen {
  const { prompt } = shown;
  if (prompt === undefined || before.prompt === undefined || !isSame(prompt.of, before.prompt.of)) return shown;
  return { ...shown, prompt: { of: prompt.of, toEnd: prompt.toEnd || before.prompt.toEnd } };
}

const plain = (text: string): Line => ({ text, look: "plain" });

type Rooms = { readonly body: number; readonly list: number; readonly details: number };

/** The list gets what it needs up to a half, the details what is left, and the list what these do not need. */
function splitOf({ mode }: TopState, { body, list, details }: Rooms): { readonly list: number; readonly page: number } {
  if (mode.kind === "read" || mode.kind === "help") return { list: 0, page: Math.max(0, body - 1) };
  if (details === 0) return { list: body, page: 0 };
  const least = Math.min(list, Math.max(3, Math.floor(body / 2)));
  const page = Math.max(0, Math.min(details, body - least - 1));
  return page < 1 ? { list: body, page: 0 } : { list: body - page - 1, page };
}

type Listed = { readonly lines: readonly Line[]; readonly at: number; readonly order: readonly string[] };

function listLines(state: TopState, view: View): Listed {
  const sections = sectionsOf(state.lists, view).filter(({ rows }) => rows.length > 0);
  const lines = sections.flatMap(({ title, rows }): Line[] => [
    { text: title, look: "dim" },
    ...rowLines(rows, state.selected, view),
  ]);
  const order = sections.flatMap(({ rows }) => rows.map(({ key }) => key));
  const empty: Line[] = state.isUp
    ? [plain("There is nothing here yet: holdfast new, holdfast agent new, holdfast run.")]
    : [];
  return { lines: lines.length === 0 ? empty : lines, at: lines.findIndex(({ look }) => look === "marked"), order };
}

function rowLines(rows: readonly Row[], selected: string | undefined, { widthOf }: View): Line[] {
  const cells = rows.map(({ cells }) =>
    cells.map((cell, at) => (at === cells.length - 1 ? cellText(cell) : fit(cellText(cell), CELL, widthOf))),
  );
  return columns(cells, widthOf).map((text, at) => {
    const isMarked = rows[at]?.key === selected;
    return { text: `${isMarked ? "▸" : " "} ${text}`, look: isMarked ? "marked" : "plain" };
  });
}

/** Wider than any window: the rest of a long input is not looked at again and again. */
const MAX_CELL = 500;

function cellText(cell: string): string {
  return plainLine(cell.slice(0, MAX_CELL));
}

/** As many lines as there is room for, with the marked one among them. */
function cut(lines: readonly Line[], at: number, room: number): readonly Line[] {
  const from = lines.length <= room ? 0 : visibleFrom(Math.max(0, at), lines.length, room);
  return lines.slice(from, from + room);
}

function detailRows(target: Target, view: View): string[] {
  if (target.kind === "prompt") return rowsOf(target.of, { ...view, columns: columnsOf(view) });
  return rowsIn(detailsOf(target, view), view);
}

function columnsOf({ size }: View): number {
  return Math.max(size.cols - 1, MIN_COLUMNS);
}

function rowsIn(lines: readonly string[], view: View): string[] {
  return lines.flatMap((line) => wrapped(plainLine(line), columnsOf(view), view.widthOf));
}

/** A long input takes a while to wrap, and is drawn again with every key. */
const wrappedInputs = new WeakMap<ListedPrompt, { readonly columns: number; readonly rows: string[] }>();

function rowsOf(prompt: ListedPrompt, view: View & { readonly columns: number }): string[] {
  const known = wrappedInputs.get(prompt);
  if (known?.columns === view.columns) return known.rows;
  const facts = [
    `${prompt.id}, since ${localTime(view, prompt.since)}, until ${localTime(view, prompt.deadline)}`,
    ...(prompt.unsandboxed === undefined ? [] : [`without a sandbox: ${prompt.unsandboxed}`]),
  ];
  const rows = [...rowsIn(facts, view), ...inputRows(prompt.input, view)];
  wrappedInputs.set(prompt, { columns: view.columns, rows });
  return rows;
}

type Scrolled = { readonly page: number; readonly scroll: number; readonly rows: number };

function titleLine({ mode }: TopState, target: Target | undefined, { page, scroll, rows }: Scrolled): Line {
  const what = mode.kind === "help" || target === undefined ? "Keys" : titleOf(target);
  const end = Math.min(rows, scroll + page);
  const more = rows <= page ? "" : `  [rows ${scroll + 1}–${end} of ${rows}${end < rows ? ", PgDn for more" : ""}]`;
  return { text: `── ${what}${more} ──`, look: "head" };
}

function titleOf(target: Target): string {
  if (target.kind !== "prompt") return nameOf(target);
  const { id, name, tool } = target.of;
  return `${plainLine(name)} asks: ${fit(
    toolText(tool, (text) => text.length),
    40,
    (text) => text.length,
  )} (${shortId(id)})`;
}

function headLine({ lists, isUp }: TopState): Line {
  const away = isUp ? "" : "   ** the daemon is away; reconnecting **";
  return { text: `holdfast top   ${countsOf(lists)}${away}`, look: "head" };
}

function messageOf({ mode, message }: TopState, view: View): string {
  if (mode.kind === "send")
    return typedText(`to ${receiverOf(mode.to)}: `, mode.text.replaceAll(/\r\n?|\n/g, "⏎"), view);
  if (mode.kind === "interrupt") return `interrupt ${receiverOf(mode.of)}? y for yes, any other key for no`;
  return message;
}

/** The end of what is being typed is in view. */
function typedText(label: string, text: string, { size, widthOf }: View): string {
  const room = Math.max(1, size.cols - 2 - widthOf(label));
  const shown = wrapped([...plainLine(text)].reverse().join(""), room, widthOf)[0] ?? "";
  return `${label}${[...shown].reverse().join("")}▏`;
}

function keysOf({ mode }: TopState, target: Target | undefined): string {
  if (mode.kind === "send") return "Enter sends  Ctrl-U clears  Esc cancels";
  if (mode.kind === "interrupt") return "y interrupts  any other key cancels";
  if (mode.kind === "help") return "any key goes back";
  const ends = mode.kind === "read" ? "Esc back" : "? help  q quit";
  if (target === undefined) return `${HINT}  ${ends}`;
  return `${KEYS[target.kind]}  ${ends}`;
}

const KEYS: Readonly<Record<Target["kind"], string>> = {
  prompt: "a allow  d deny  ⏎ read  PgDn more  s send  i interrupt  p next",
  agent: "s send  i interrupt  ⏎ read  p next prompt",
  terminal: "⏎ attach  s send  i interrupt  p next prompt",
  run: "i interrupt  ⏎ read  p next prompt",
};
