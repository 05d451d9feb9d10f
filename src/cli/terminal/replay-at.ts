// `holdfast replay --at`: the screen as it was, with its colours on a terminal, and as plain text elsewhere.
// RA1. Only what is drawn is printed: cells, colours and links. Nothing that the program said to its terminal is passed
//      on, such as questions, titles and what it put into the clipboard.
import { localTime } from "../../base/local-time.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import type { ScreenCell } from "../../core/terminal/screen.ts";
import { describe } from "../../vt/describe.ts";
import type { Emulator } from "../../vt/emulator.ts";
import { pastScreen } from "../../vt/follow.ts";
import { rowPart } from "../../vt/rows.ts";
import { EXIT } from "../command-world.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { say } from "../print.ts";
import type { Recording } from "./recording.ts";

export async function showAt(
  world: DaemonCommandWorld,
  recording: Recording,
  offset: number,
  json: boolean,
): Promise<number> {
  const { id, name, place, size, times } = recording;
  const { emulator, exact } = await pastScreen(world, { directory: place.directory, size }, offset);
  const at = times.timeAt(Math.max(0, offset - 1));
  const time = at === undefined ? null : new Date(at).toISOString();
  const { cols, rows, cursor, title, alternate, lines } = describe(emulator);
  const texts = lines.map(textOf);
  const { out } = world.console;
  if (json) {
    const value = { id, name, offset, time, cols, rows, cursor, title, alternate, exact, lines: texts };
    await out.write(`${visibleLine(JSON.stringify(value))}\n`);
    return EXIT.ok;
  }
  await out.write(
    rowsOf(emulator, texts, out.tty)
      .map((row) => `${row}\n`)
      .join(""),
  );
  const when = time === null ? "" : ` The last output before was at ${localTime(world.clock, time)}.`;
  const doubt = exact ? "" : " Older output is missing from the tape: this may not be all that was shown.";
  await say(world.console, `${name} at byte ${offset} of its output.${when}${doubt}`);
  return EXIT.ok;
}

/** Without the empty rows at the end (RA1). */
function rowsOf({ xterm }: Emulator, texts: readonly string[], coloured: boolean): string[] {
  const used = texts.slice(0, texts.findLastIndex((text) => text !== "") + 1);
  if (!coloured) return used.map((text) => visible(text));
  const { lines, ybase } = xterm.active;
  return used.map((_, y) => {
    const line = lines.get(ybase + y);
    return line === undefined ? "" : rowPart(line, (link) => xterm.link(link), 0, xterm.cols);
  });
}

function textOf(cells: readonly ScreenCell[]): string {
  return cells
    .map(({ ch, width }) => (width === 0 ? "" : ch || " "))
    .join("")
    .trimEnd();
}
