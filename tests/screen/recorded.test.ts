// Screens of real programs: kept and restored at any byte they are the same, and another emulator sees the same.
import { expect, test } from "bun:test";
import type { ScreenCell, ScreenCells } from "../../src/core/terminal/screen.ts";
import { describe } from "../../src/vt/describe.ts";
import { Emulator } from "../../src/vt/emulator.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { everything, restored } from "./compare.ts";
import { agentSession, recordedSessions, type Session } from "./sessions.ts";
import { Tmux } from "./tmux.ts";

const SESSIONS = [...recordedSessions(), agentSession()];
/** At regular offsets, and wherever the program waited; primes, so that they hit sequences at all positions. */
const STRIDE = amount(2999, 499);
const hasTmux = Bun.which("tmux") !== null;
/** Nothing hangs on it: every cut is a screen made anew, and a busy machine takes its time. */
const LONG_MS = 180_000;

function cutsOf({ bytes, stations }: Session): number[] {
  const regular = Array.from({ length: Math.floor(bytes.length / STRIDE) }, (_, n) => n * STRIDE);
  return [...new Set([...regular, ...stations])].sort((a, b) => a - b);
}

for (const session of SESSIONS) {
  test(
    `${session.name}: restored from any cut, and given the rest, the screen is as if it had never been cut`,
    () => {
      const { bytes } = session;
      const whole = new Emulator(session, 0);
      whole.feed(bytes);
      const wanted = everything(whole);
      const first = new Emulator(session, 0);
      for (const cut of cutsOf(session)) {
        first.feed(bytes.subarray(first.end, cut));
        const second = restored(first);
        expect({ cut, ...everything(second) }).toEqual({ cut, ...everything(first) });
        second.feed(bytes.subarray(second.offset));
        expect({ cut, ...everything(second) }).toEqual({ cut, ...wanted });
        second.dispose();
      }
    },
    LONG_MS,
  );

  test.skipIf(!hasTmux)(
    `${session.name}: tmux sees the screen that was restored, wherever the program waited (needs tmux)`,
    async () => {
      const tmux = new Tmux(session);
      try {
        const emulator = new Emulator(session, 0);
        for (const station of session.stations) {
          const part = session.bytes.subarray(emulator.end, station);
          emulator.feed(part);
          const opinion = await tmux.shows(part);
          const kept = restored(emulator);
          const [ours, theirs] = [describe(kept), opinion.cells];
          expect({ station, rows: shown(ours, theirs) }).toEqual({ station, rows: shown(theirs, ours) });
          expect({ station, ...factsOf(kept) }).toEqual({ station, ...opinion.facts });
        }
      } finally {
        tmux.close();
      }
    },
    LONG_MS,
  );
}

/**
 * As text that shows differences readably, each line as far as either of the two has content: tmux reports only
 * sometimes what was erased after the last character, and then it is compared.
 */
function shown({ lines }: ScreenCells, other: ScreenCells): string[] {
  const cell = ({ ch, width, fg, bg, flags }: ScreenCell) =>
    `${width === 0 ? "" : ch || " "}${fg || bg || flags ? `{${fg}|${bg}|${flags}}` : ""}`;
  const end = (line: readonly ScreenCell[] = []) => line.findLastIndex(({ ch, width }) => ch !== "" || width === 0) + 1;
  return lines.map((line, at) => {
    const upTo = Math.max(end(line), end(other.lines[at]));
    return line.slice(0, upTo).map(cell).join("").trimEnd();
  });
}

function factsOf({ xterm }: Emulator): Record<string, number> {
  const { active, modes } = xterm;
  const facts = {
    cursor_x: active.x,
    cursor_y: active.y,
    cursor_flag: !modes.hidden,
    alternate_on: active === xterm.alternate,
    insert_flag: modes.insert,
    keypad_cursor_flag: modes.applicationCursorKeys,
    keypad_flag: modes.applicationKeypad,
    wrap_flag: modes.wraparound,
    origin_flag: modes.origin,
    mouse_standard_flag: modes.mouse === "VT200",
    mouse_button_flag: modes.mouse === "DRAG",
    mouse_all_flag: modes.mouse === "ANY",
    mouse_sgr_flag: modes.mouseEncoding === "SGR",
    scroll_region_upper: active.scrollTop,
    scroll_region_lower: active.scrollBottom,
  };
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, Number(value)]));
}
