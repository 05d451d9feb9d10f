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
