// Two screens, compared with everything that is behind them.
import { expect } from "bun:test";
import { describe, linesOf } from "../../src/vt/describe.ts";
import { Emulator } from "../../src/vt/emulator.ts";
import { serialize } from "../../src/vt/serialize.ts";

/** More than any test prints: then everything behind the visible lines is kept. */
export const EVERYTHING = 1 << 30;

/** The screen, and the normal one behind it, as text that shows differences readably. */
export function everything(emulator: Emulator, kept = EVERYTHING): object {
  const { normal } = emulator.xterm;
  const first = Math.max(0, normal.ybase - kept);
  const { lines, behind, ...rest } = describe(emulator);
  const shown = (all: ReturnType<typeof linesOf>) =>
    all.map((cells) =>
      cells
        .map(
          ({ ch, width, fg, bg, flags }) =>
            `${width === 0 ? "<" : ch || "·"}${fg || bg || flags ? `{${fg}|${bg}|${flags}}` : ""}`,
        )
        .join("")
        .replace(/·+$/, ""),
    );
  const active = emulator.xterm.active;
  const { scrollTop, scrollBottom } = active;
  return {
    ...rest,
    /** By itself, and not by the names that the serializer goes by. */
    raw: { ...emulator.xterm.modes, scrollTop, scrollBottom },
    behind: Math.min(behind, kept),
    lines: shown(lines.map((line) => [...line])),
    normal: shown(linesOf(emulator, normal, first)),
    wraps: wrapsOf(emulator, first),
    altWraps: active === normal ? "" : wrapsOf(emulator, 0, active),
  };
}

function wrapsOf({ xterm }: Emulator, first: number, buffer = xterm.normal): string {
  let text = "";
  for (let y = first + 1; y < buffer.lines.length; y += 1) text += buffer.lines.get(y)?.isWrapped ? "w" : ".";
  return text;
}

export function restored(emulator: Emulator, maxBytes = EVERYTHING): Emulator {
  const fresh = new Emulator(emulator.size, emulator.offset);
  fresh.xterm.write(serialize(emulator, maxBytes));
  return fresh;
}

export function expectSame(a: Emulator, b: Emulator): void {
  expect(everything(a)).toEqual(everything(b));
}
