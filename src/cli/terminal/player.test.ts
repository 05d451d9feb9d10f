// The pace of a replay, by a clock that only the test moves.
import { expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { until } from "../../../tests/until.ts";
import { terminalFiles } from "../../home/held/holder-files.ts";
import { timesOf } from "../../home/held/past.ts";
import { Tape } from "../../log/tape/tape.ts";
import { TimeLog } from "../../log/tape/time-log.ts";
import { describe } from "../../vt/describe.ts";
import { Emulator } from "../../vt/emulator.ts";
import type { TerminalEvents } from "../../world/terminal.ts";
import { Player } from "./player.ts";

const ESC = "\u001b";
const WINDOW = { cols: 100, rows: 8 };
const BEGAN = Date.UTC(2026, 10, 18, 15, 4, 5);

/** A window in which `one`, a second later `two`, and a minute later `three` is replayed. */
class Replayed {
  readonly clock = new SimClock();
  readonly left: Promise<void>;
  readonly #screen = new Emulator(WINDOW, 0);
  #events: TerminalEvents | undefined;
  #given = "";

  constructor(speed = 1) {
    const disk = new SimDisk();
    const place = terminalFiles(disk, "/home", "t");
    const directory = `${place.directory}/tape`;
    const tape = Tape.open(disk, directory, { segmentBytes: 1000, maxBytes: 1000 });
    const log = new TimeLog(disk, directory, 0);
    for (const [text, after] of [
      ["one\r\n", 0],
      ["two\r\n", 1000],
      [`${ESC}]2;rude${ESC}\\${ESC}[?1hthree`, 61_000],
    ] as const)
      log.note({ offset: tape.append(Buffer.from(text)), time: BEGAN + after }, tape.lastSegment, 0);
    const terminal = {
      there: true,
      size: () => WINDOW,
      write: async (bytes: Uint8Array) => this.#write(bytes),
      take: (events: TerminalEvents, farewell: () => string) => {
        this.#events = events;
        return () => this.#write(Buffer.from(farewell()));
      },
    };
    const recording = { id: "t", name: "told", place, times: timesOf(place), size: WINDOW, start: 0, end: tape.end };
    const world = { disk, clock: this.clock, terminal, widthOf: (text: string) => text.length };
    this.left = new Player(world, recording, { from: 0, to: tape.end, maxIdle: 2000 }, speed).run();
  }

  type(text: string): void {
    this.#events?.typed(Buffer.from(text));
  }

  get given(): string {
    return this.#given;
  }

  async shows(rows: readonly string[], status: string): Promise<void> {
    const wanted = () => Bun.deepEquals(this.#rows.slice(0, 3), rows) && this.#rows.at(-1)?.includes(status) === true;
    await until(`it shows ${rows.join(", ")} and ${status}`, wanted, () => this.#rows);
  }

  #write(bytes: Uint8Array): void {
    this.#given += Buffer.from(bytes).toString();
    this.#screen.feed(bytes);
  }

  get #rows(): string[] {
    return describe(this.#screen).lines.map((row) =>
      row
        .map(({ ch }) => ch || " ")
        .join("")
        .trimEnd(),
    );
  }
}

test("output comes at its pace, and a long pause is shortened", async () => {
  const replayed = new Replayed();
  await replayed.shows(["one", "", ""], "told  2026-11-18 15:04:05 UTC  0:00 / 0:03  playing");
  replayed.clock.advance(999);
  replayed.clock.advance(1);
  await replayed.shows(["one", "two", ""], "15:04:06 UTC  0:01 / 0:03  playing");
  replayed.clock.advance(2000);
  await replayed.shows(["one", "two", "three"], "15:05:06 UTC  0:03 / 0:03  end");
  replayed.type("q");
  await replayed.left;
  expect(replayed.given.endsWith(`${ESC}[?1049l`)).toBe(true);
  for (const rude of [`${ESC}]2;`, `${ESC}[?1h`]) expect(replayed.given).not.toContain(rude);
  expect(replayed.clock.pendingTimers).toBe(0);
});

test("space pauses and goes on where it was, arrows jump, and speed divides the time", async () => {
  const replayed = new Replayed(2);
  await replayed.shows(["one", "", ""], "playing ×2");
  replayed.clock.advance(300);
  replayed.type(" ");
  await replayed.shows(["one", "", ""], "paused");
  replayed.clock.advance(60_000);
  await replayed.shows(["one", "", ""], "0:00 / 0:03  paused");
  replayed.type(" ");
  await replayed.shows(["one", "", ""], "playing ×2");
  replayed.clock.advance(200);
  await replayed.shows(["one", "two", ""], "0:01 / 0:03");
  replayed.type(`${ESC}[C`);
  await replayed.shows(["one", "two", "three"], "end");
  replayed.type(`${ESC}OD`);
  await replayed.shows(["one", "", ""], "0:00 / 0:03");
  replayed.type("x\u0003");
  await replayed.left;
});
