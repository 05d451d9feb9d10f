// A terminal's screen as a value that can be stored: what to write to an empty terminal to get it back.
// S1. The screen at the tape's offset x ≥ `offset` is `vt` written to an empty terminal of `cols`×`rows`, then the
//     tape's bytes from `offset` to x, with the size changes between them at their offsets.
// S2. `offset` lies between two whole characters or escape sequences, so that either part can be written by itself.

/** The default limit of a snapshot's scrollback, in bytes of `vt` (TC-1); the visible screen is always whole. */
export const SCROLLBACK_BYTES = 10 << 10;

export type ScreenSnapshot = {
  readonly offset: number;
  readonly cols: number;
  readonly rows: number;
  readonly vt: string;
  /**
   * False if bytes before `offset` were missing: the tape is bounded, or has a gap, and the parser started in the
   * middle.
   */
  readonly exact: boolean;
  readonly at: string;
  readonly title: string;
  readonly alternate: boolean;
  /** How many characters of `vt` come before the visible screen: for callers that have that history from elsewhere. */
  readonly behind?: number;
};

/**
 * What is shown first on attach: the tape from an offset on. `exact`: the program need not redraw. `screen`: drawn when
 * the tape has reached its offset.
 */
export type AttachView = { readonly from: number; readonly exact: boolean; readonly screen?: ScreenSnapshot };

/**
 * One cell for comparing: `width` 0 is the right half of a wide character. Colours: "" (default), "0" … "255",
 * "#rrggbb".
 */
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
  /** Every mode that differs from a new terminal, as words in a fixed order. */
  readonly modes: readonly string[];
  readonly title: string;
  readonly alternate: boolean;
  /** How many lines of scrollback there are before the visible ones. */
  readonly behind: number;
};

const CSI = "\u001b[";
const off = (...modes: readonly number[]): string => modes.map((mode) => `${CSI}?${mode}l`).join("");

/**
 * Resets what a program may have switched on: mouse, focus, paste, synchronized output, keys, origin; then wrapping,
 * cursor, insert, newline, scroll region, pen, link and character sets. The cursor may be anywhere afterwards.
 */
export const SOFT_RESET = [
  `${CSI}!p`,
  off(9, 1000, 1002, 1003, 1005, 1006, 1015, 1016, 1004, 2004, 2026, 1, 6, 12, 45, 66),
  `\u001b>${CSI}?7h${CSI}?25h${CSI}0 q${CSI}4l${CSI}20l${CSI}r${CSI}m\u001b]8;;\u001b\\`,
  "\u001b(B\u001b)B\u001b*B\u001b+B\u000f",
].join("");

const CONTROL = /\p{Cc}+/gu;

/** One line of text, whatever the message contains; empty for an empty message. */
export function messageLine(message: string): string {
  const said = message.replace(CONTROL, " ").trim();
  return said === "" ? "" : `${CSI}7m${said}${CSI}0m\r\n`; // Inverse: it is not the program's output.
}

/** The text between two generations of a terminal whose screen is unknown: resets it and moves to the bottom row. */
export function plainRestoreBanner(message: string): string {
  return `\u0018${CSI}?1049l${SOFT_RESET}${CSI}999;1H\r\n${messageLine(message)}`;
}
