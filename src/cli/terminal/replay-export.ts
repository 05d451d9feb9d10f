// `holdfast replay --export`: a terminal's past as an asciicast (version 2), for asciinema and its players.
// RX1. What is left out when a window attaches is left out here (vt/replay.ts): the file may be played in a terminal,
//      and what the program asked or put into the clipboard is nobody's business there.
// RX2. A part that does not begin with the tape begins with the screen as it was. Changes of size are at their bytes.
// RX3. Characters are whole: one that comes in two pieces is in the later one.
import { visibleLine } from "../../base/visible.ts";
import { SCROLLBACK_BYTES } from "../../core/terminal/screen.ts";
import { type TapePart, tapeOf } from "../../home/held/tape-parts.ts";
import { readSizes, type SizeAt } from "../../log/tape/sizes.ts";
import { pastScreen } from "../../vt/follow.ts";
import { HarmlessStream } from "../../vt/replay.ts";
import { serialized } from "../../vt/serialize.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import type { Recording } from "./recording.ts";
import { type Beat, beatsOf, type Range } from "./timeline.ts";

const PIECE_BYTES = 64 << 10;

/** Returns how many bytes of the range the tape no longer has. */
export async function exportCast(
  world: DaemonCommandWorld,
  recording: Recording,
  range: Range,
  write: (line: string) => Promise<void>,
): Promise<number> {
  const { place, size, times, name } = recording;
  const { emulator, exact } = await pastScreen(world, { directory: place.directory, size }, range.from);
  const timestamp = Math.floor((times.timeAt(range.from) ?? times.first?.time ?? 0) / 1000);
  const { cols, rows } = emulator.size;
  const lineOf = (value: unknown) => write(`${visibleLine(JSON.stringify(value))}\n`);
  await lineOf({ version: 2, width: cols, height: rows, timestamp, title: name });
  if (range.from > 0) await lineOf([0, "o", serialized(emulator, SCROLLBACK_BYTES).vt]); // RX2
  const output = new Output(readSizes(world.disk, place.directory), exact);
  for (const { at, code, text } of eventsOf(recording, range, emulator.offset, output)) await lineOf([at, code, text]);
  return output.missing;
}

type CastEvent = { readonly code: "o" | "r"; readonly text: string };

/** `drawn`: where the first screen, which may be before an unfinished sequence, ends. */
function* eventsOf(
  recording: Recording,
  range: Range,
  drawn: number,
  output: Output,
): Generator<CastEvent & { readonly at: number }> {
  for (const beat of beatsOf(recording, range)) {
    const from = beat.offset === range.from ? drawn : beat.offset;
    for (const part of partsOf(recording, from, beat))
      for (const event of output.events(part)) yield { at: beat.at / 1000, ...event };
  }
}

function* partsOf({ place }: Recording, from: number, { end }: Beat): Generator<TapePart> {
  const tape = tapeOf(place);
  for (let at = from; at < end; ) {
    const part = tape.read(at, Math.min(PIECE_BYTES, end - at));
    if (part.kind === "end") return;
    yield part;
    at = part.kind === "bytes" ? at + part.bytes.length : part.to;
  }
}

/** Turns the tape's bytes into the events of an asciicast. */
class Output {
  readonly #sizes: readonly SizeAt[];
  readonly #harmless: HarmlessStream;
  readonly #decoder = new TextDecoder(); // RX3
  missing = 0;

  constructor(sizes: readonly SizeAt[], whole: boolean) {
    this.#sizes = sizes;
    this.#harmless = new HarmlessStream(whole);
  }

  *events(part: TapePart): Generator<CastEvent> {
    if (part.kind !== "bytes") {
      this.missing += part.to - part.from;
      return;
    }
    const { offset, bytes } = part;
    const end = offset + bytes.length;
    let at = offset;
    for (const size of this.#sizes.filter((one) => one.offset > offset && one.offset < end)) {
      yield* this.#text(bytes.subarray(at - offset, size.offset - offset));
      yield resized(size); // RX2
      at = size.offset;
    }
    yield* this.#text(bytes.subarray(at - offset));
    for (const size of this.#sizes.filter((one) => one.offset === end)) yield resized(size);
  }

  *#text(bytes: Uint8Array): Generator<CastEvent> {
    const text = this.#decoder.decode(this.#harmless.push(bytes), { stream: true }); // RX1
    if (text !== "") yield { code: "o", text };
  }
}

function resized({ cols, rows }: SizeAt): CastEvent {
  return { code: "r", text: `${cols}x${rows}` };
}
