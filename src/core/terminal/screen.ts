// A terminal's screen as a value that can be kept: what to write to an empty terminal to have it again.
// S1. The screen at the tape's offset x ≥ `offset` is `vt` written to an empty terminal of `cols`×`rows`, then the tape's bytes from
//     `offset` to x, with the size changes between them at their offsets.
// S2. `offset` lies between two whole characters or escape sequences, so that either part can be written by itself.

/** The scrollback of a snapshot takes at most so many bytes of `vt` where nobody says otherwise (TC-1); the visible screen is always whole. */
export const SCROLLBACK_BYTES = 10 << 10;

export type ScreenSnapshot = {
  readonly offset: number;
  readonly cols: number;
  readonly rows: number;
  readonly vt: string;
  /** False where bytes before `offset` were missing: the tape is bounded, or has a gap, and the parser began in the middle. */
  readonly exact: boolean;
  readonly at: string;
  readonly title: string;
  readonly alternate: boolean;
  /** How many of `vt`'s characters only scroll by, before the visible screen begins: for whoever has that history from elsewhere. */
  readonly behind?: number;
};

/** One cell as it is compared: `width` 0 is the right half of a wide character. Colours are "" (default), "0" … "255", or "#rrggbb". */
export type ScreenCell = {
  readonly ch: string;
  readonly width: number;
  readonly fg: string;
  readonly bg: string;
  /** Attributes as words in a fixed order, such as "bold underline=curly/#ff0000". */
  readonly flags: string;
};

/** A screen taken apart, for comparing two of them. */
export type ScreenCells = {
  readonly cols: number;
  readonly rows: number;
  /** The visible rows. */
  readonly lines: readonly (readonly ScreenCell[])[];
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
  /** Every mode that is not as a terminal starts, as words in a fixed order. */
  readonly modes: readonly string[];
  readonly title: string;
  readonly alternate: boolean;
  /** How many lines of scrollback there are behind the visible ones. */
  readonly behind: number;
};

const CSI = "\u001b[";
const off = (...modes: readonly number[]): string => modes.map((mode) => `${CSI}?${mode}l`).join("");

/**
 * Switches off what a program may have switched on: mouse, focus, paste, synchronized output, keys, origin; then wrapping, cursor,
 * insert, newline, scroll region, pen, link and character sets are as at the start. The cursor is anywhere afterwards.
 */
export const SOFT_RESET = [
  `${CSI}!p`,
  off(9, 1000, 1002, 1003, 1005, 1006, 1015, 1016, 1004, 2004, 2026, 1, 6, 12, 45, 66),
  `\u001b>${CSI}?7h${CSI}?25h${CSI}0 q${CSI}4l${CSI}20l${CSI}r${CSI}m\u001b]8;;\u001b\\`,
  "\u001b(B\u001b)B\u001b*B\u001b+B\u000f",
].join("");

const CONTROL = /\p{Cc}+/gu;

/** One line of words, whatever somebody puts into it; nothing where there are none. */
export function messageLine(message: string): string {
  const said = message.replace(CONTROL, " ").trim();
  return said === "" ? "" : `${CSI}7m${said}${CSI}0m\r\n`; // Inverse: it is nobody's output.
}

/** What stands between two lives of a terminal where nobody knows its screen: cut short, reset, and at the bottom, so that nothing is overwritten. */
export function plainRestoreBanner(message: string): string {
  return `\u0018${CSI}?1049l${SOFT_RESET}${CSI}999;1H\r\n${messageLine(message)}`;
}
