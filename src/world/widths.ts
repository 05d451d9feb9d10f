// How many columns a character takes in today's terminals. The emulator's own table is from 2010: every emoji would be
// too narrow. Each character is measured once.

const SOFT_HYPHEN = 0xad;
const UNKNOWN = 0;
/** The width plus one. */
const seen = new Uint8Array(0x110000);

export const WIDTHS = {
  version: "today",
  wcwidth: widthOf,
  /** The emulator's format: the width, and whether the character joins the one before it. */
  charProperties(code: number, before: number): number {
    const width = widthOf(code);
    const widthBefore = (before >> 1) & 3;
    return width === 0 && widthBefore > 0 ? (widthBefore << 1) | 1 : width << 1;
  },
};

function widthOf(code: number): 0 | 1 | 2 {
  if (code >= 0x20 && code < 0x7f) return 1;
  if (seen[code] === UNKNOWN) seen[code] = measured(code) + 1;
  const width = (seen[code] ?? 0) - 1;
  return width === 2 ? 2 : width === 1 ? 1 : 0;
}

/** Every terminal shows a soft hyphen. */
function measured(code: number): number {
  return code === SOFT_HYPHEN ? 1 : Math.min(2, Bun.stringWidth(String.fromCodePoint(code)));
}
