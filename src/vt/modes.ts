// The modes of a terminal that differ from its initial ones: a word and a sequence for each.
import type { Xterm } from "../world/xterm.ts";

const CSI = "\u001b[";

export type Mode = { readonly name: string; readonly set: string };

const MOUSE: Readonly<Record<string, string>> = { X10: "9", VT200: "1000", DRAG: "1002", ANY: "1003" };
const ENCODINGS: Readonly<Record<string, string>> = { SGR: "1006", SGR_PIXELS: "1016" };
const CURSORS = { block: 2, underline: 4, bar: 6 };

/** Modes that do not affect the cursor or the printing of a snapshot: they can be set at any time, in any order. */
export function quietModes(xterm: Xterm): Mode[] {
  const modes = xterm.modes;
  const mouse = MOUSE[modes.mouse];
  const encoding = ENCODINGS[modes.mouseEncoding];
  return [
    ...when(modes.applicationCursorKeys, "application-cursor", `${CSI}?1h`),
    ...when(modes.applicationKeypad, "application-keypad", "\u001b="),
    ...when(!modes.wraparound, "no-wraparound", `${CSI}?7l`),
    ...when(modes.reverseWraparound, "reverse-wraparound", `${CSI}?45h`),
    ...when(modes.newLine, "new-line", `${CSI}20h`),
    ...when(mouse !== undefined, `mouse=${mouse}`, `${CSI}?${mouse}h`),
    ...when(encoding !== undefined, `mouse-encoding=${encoding}`, `${CSI}?${encoding}h`),
    ...when(modes.sendFocus, "focus", `${CSI}?1004h`),
    ...when(modes.bracketedPasteMode, "bracketed-paste", `${CSI}?2004h`),
    ...when(modes.synchronizedOutput, "synchronized", `${CSI}?2026h`),
    ...when(modes.blink, "blink", `${CSI}?12h`),
    ...cursorStyle(xterm),
    ...when(modes.hidden, "hidden-cursor", `${CSI}?25l`),
  ];
}

function cursorStyle(xterm: Xterm): Mode[] {
  const { cursorStyle: style, cursorBlink } = xterm.modes;
  if (style === undefined) return [];
  const number = CURSORS[style] - (cursorBlink === true ? 1 : 0);
  return [{ name: `cursor=${number}`, set: `${CSI}${number} q` }];
}

function when(on: boolean, name: string, set: string): Mode[] {
  return on ? [{ name, set }] : [];
}
