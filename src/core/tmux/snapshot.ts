// What is stored of a tmux session, so that it can be recreated, and the small decisions on the way there and back.
// Pure.
// Q1. Nothing from a pane, a name or a directory is ever interpreted when it is restored: not by tmux's formats
//     (`#{…}`), not by its command separator, not by a shell, and no key is pressed that could run something.

export type TmuxPane = {
  readonly title: string;
  readonly directory: string;
  readonly active: boolean;
  /** The foreground program, as it was started; empty if a shell waited for a command. */
  readonly command: readonly string[];
  /** The screen and its scrollback, with colours, oldest first. */
  readonly scrollback: string;
};

export type TmuxWindow = {
  readonly index: number;
  readonly name: string;
  /** tmux names it after the foreground program. */
  readonly automatic: boolean;
  readonly layout: string;
  readonly size: { readonly cols: number; readonly rows: number };
  readonly active: boolean;
  /** The window that was active before the current one. */
  readonly last: boolean;
  readonly zoomed: boolean;
  /** In the order in which the layout names them. */
  readonly panes: readonly TmuxPane[];
};

export type TmuxSnapshot = {
  readonly name: string;
  /** Of the server, without what looks like a secret. */
  readonly environment: Readonly<Record<string, string>>;
  /** Names of variables that were left out. */
  readonly leftOut: readonly string[];
  readonly windows: readonly TmuxWindow[];
};

/**
 * "c195,80x24,0,0[80x12,0,0,0,80x11,0,13,1]": a checksum, then cells; a cell without subcells ends in its pane's
 * number.
 */
const LAYOUT = /^[0-9a-f]{4},[0-9x,[\]{}]+$/;
const LEAF = /\d+x\d+,\d+,\d+,(\d+)/g;

export function isLayout(text: string): boolean {
  return LAYOUT.test(text);
}

/** The panes of a layout, as tmux numbers them (`%0`), in the order in which a layout is filled again. */
export function panesOfLayout(layout: string): string[] {
  return [...layout.matchAll(LEAF)].map(([, number]) => `%${number}`);
}

/** Q1. Text for a place where tmux expands formats; only `#[` stays as it is there. */
export function unformatted(text: string): string {
  return text.replaceAll(/#(?!#*\[)/g, "##");
}

const VISIBLE: Readonly<Record<string, string>> = {
  ...{ n: "\n", t: "\t", r: "\r", b: "\b", a: "\x07", v: "\v", f: "\f", s: " ", "0": "\0" },
};

/** A name as it was given: tmux shows invisible characters as `\n`, `\033`, and a backslash as two. */
export function givenName(shown: string): string {
  return shown.replaceAll(/\\([0-7]{3}|[\s\S])/g, (_, code: string) =>
    /^[0-7]{3}$/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : (VISIBLE[code] ?? code),
  );
}

const SHELLS = new Set([
  "sh",
  "bash",
  "dash",
  "zsh",
  "fish",
  "ksh",
  "mksh",
  "ash",
  "tcsh",
  "csh",
  "nu",
  "xonsh",
  "elvish",
  "pwsh",
]);

/** Whether this is a shell that waits for commands: started without anything to run. */
export function isWaitingShell(argv: readonly string[]): boolean {
  const [program = "", ...words] = argv;
  const name = program.slice(program.lastIndexOf("/") + 1).replace(/^-/, "");
  return SHELLS.has(name) && words.every((word) => word.startsWith("-") && !/^-\w*c/.test(word));
}

/** What a recreated pane runs first: it shows the old screen, then becomes the shell that tmux would have started. */
export const REVIVAL = [
  'cat -- "$0"',
  "c=$(tmux show-options -Aqv default-command 2>/dev/null)",
  'if [ -n "$c" ]; then exec "$SHELL" -c "$c"; fi',
  'exec "$SHELL" -l',
].join("; ");

/** Whether a pane has not started its own program yet: at first it is a copy of tmux's server, or runs REVIVAL. */
export function isBeginning(argv: readonly string[], server: readonly string[] | undefined): boolean {
  return argv.includes(REVIVAL) || (server !== undefined && argv.join("\0") === server.join("\0"));
}

/** The saved directory of a pane, found by its window's index and its number; undefined if there is none. */
export function savedDirectory(
  { windows }: Pick<TmuxSnapshot, "windows">,
  index: number,
  pane: string,
): string | undefined {
  const window = windows.find((saved) => saved.index === index);
  const at = window === undefined ? -1 : panesOfLayout(window.layout).indexOf(pane);
  return window?.panes[at]?.directory || undefined;
}

/** The end of a text, with at most this length, from the beginning of a line on. */
export function lastLines(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(-most);
  return end.slice(end.indexOf("\n") + 1);
}

/** A name like the wanted one that is not taken. */
export function freeName(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) if (!taken.has(`${wanted}-${number}`)) return `${wanted}-${number}`;
}
