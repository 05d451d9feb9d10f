// The output of `tmux list-panes`, one record for each pane.
// L1. Names, titles and directories may contain anything, even newlines. So fields and records are separated by a
//     random word, not by a character.
import { isLayout } from "../core/tmux/snapshot.ts";

export type ListedPane = {
  readonly serverPid: number;
  readonly session: string;
  readonly sessionName: string;
  /** The id under which we re-created the session; empty for others. */
  readonly mark: string;
  readonly attached: boolean;
  readonly window: string;
  readonly index: number;
  readonly windowName: string;
  readonly automatic: boolean;
  readonly layout: string;
  readonly size: { readonly cols: number; readonly rows: number };
  readonly windowActive: boolean;
  readonly last: boolean;
  readonly zoomed: boolean;
  /** In seconds since 1970. */
  readonly activity: number;
  readonly pane: string;
  readonly active: boolean;
  /** 0 if its program has ended: the pid may belong to another process by now. */
  readonly pid: number;
  readonly title: string;
  /**
   * Of the program in front. Empty if tmux cannot read it: in a pane's first milliseconds, and when its program has
   * ended.
   */
  readonly directory: string;
  /** Where its program was started, or the session's directory if this tmux does not tell. */
  readonly startDirectory: string;
  readonly cursor: string;
  readonly history: string;
};

/** Set on sessions that we made; it ends with tmux's server. */
export const MARK = "@holdfast";

const START_DIRECTORY = "?pane_start_path,#{pane_start_path},#{session_path}";

const FIELDS = [
  ...["pid", "session_id", "session_name", MARK, "session_attached", "window_id", "window_index", "window_name"],
  ...["automatic-rename", "window_layout", "window_width", "window_height", "window_active", "window_last_flag"],
  ...["window_zoomed_flag", "window_activity", "pane_id", "pane_active", "pane_pid", "pane_title", "pane_current_path"],
  ...["cursor_x", "cursor_y", "history_size", "history_bytes", "pane_dead", START_DIRECTORY],
];

/** L1. `word` is hex digits. */
export function listFormat(word: string): string {
  return `${word}+${FIELDS.map((field) => `#{${field}}`).join(`${word}-`)}${word}-`;
}

/** Undefined if any record is malformed: then nothing is known about any session. */
export function parseList(text: string, word: string): readonly ListedPane[] | undefined {
  const records = text.split(`${word}+`).slice(1);
  const panes = records.map((record) => parsePane(record.split(`${word}-`).slice(0, -1)));
  return panes.every((pane) => pane !== undefined) ? panes : undefined;
}

function parsePane(values: readonly string[]): ListedPane | undefined {
  if (values.length !== FIELDS.length) return undefined;
  const text = (field: string) => values[FIELDS.indexOf(field)] ?? "";
  const number = (field: string) => Number(text(field) || Number.NaN);
  const yes = (field: string) => text(field) !== "" && text(field) !== "0" && text(field) !== "off";
  const size = { cols: number("window_width"), rows: number("window_height") };
  const numbers = ["pid", "window_index", "window_width", "window_height", "window_activity", "pane_pid"].map(number);
  if (!numbers.every(Number.isSafeInteger) || !isLayout(text("window_layout"))) return undefined;
  if (!/^\$\d+$/.test(text("session_id")) || !/^@\d+$/.test(text("window_id"))) return undefined;
  return {
    serverPid: number("pid"),
    session: text("session_id"),
    sessionName: text("session_name"),
    mark: text(MARK),
    attached: yes("session_attached"),
    window: text("window_id"),
    index: number("window_index"),
    windowName: text("window_name"),
    automatic: yes("automatic-rename"),
    layout: text("window_layout"),
    size,
    windowActive: yes("window_active"),
    last: yes("window_last_flag"),
    zoomed: yes("window_zoomed_flag"),
    activity: number("window_activity"),
    pane: text("pane_id"),
    active: yes("pane_active"),
    pid: yes("pane_dead") ? 0 : number("pane_pid"),
    title: text("pane_title"),
    directory: text("pane_current_path"),
    startDirectory: text(START_DIRECTORY),
    cursor: `${text("cursor_x")},${text("cursor_y")}`,
    history: `${text("history_size")},${text("history_bytes")}`,
  };
}

/** A line of `show-environment -s`: `NAME="value"; export NAME;` with a shell's escapes, or `unset NAME;`. */
const VARIABLE = /(?:unset ([^\n;]+);|([^\n="]+)="([^"\\]*(?:\\[\s\S][^"\\]*)*)"; export \2;)\n/y;
const NAME = /^[A-Za-z_]\w*$/;

/** The variables that `show-environment -s` prints. A value may have many lines, and a line of a secret may look like
 *  another variable: so values are read by their quotes, and reading stops at the first thing that does not fit. */
export function parseEnvironment(text: string): Record<string, string> {
  const pairs: [string, string][] = [];
  VARIABLE.lastIndex = 0;
  for (let found = VARIABLE.exec(text); found !== null; found = VARIABLE.exec(text)) {
    const [, , name = "", value = ""] = found;
    if (NAME.test(name)) pairs.push([name, value.replaceAll(/\\([\s\S])/g, "$1")]);
  }
  return Object.fromEntries(pairs);
}
