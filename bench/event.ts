// The event that every log benchmark writes: about 240 bytes as a line of a session's log, and the same bytes for the
// peers.
import type { NewEntry } from "../src/log/session/entry.ts";
import { EntryEncoder } from "../src/log/session/entry-encoder.ts";

/** Created once: the cost of creating an event is not measured here. */
const TS = "2026-01-02T03:04:05.678Z";
const DATA = { from: "agents/0", to: "agents/1", text: "The tests of the parser pass now; please have a look at it." };

export function sessionName(index: number): string {
  return `agents/writer-${String(index).padStart(3, "0")}`;
}

export function eventOf(session: string): NewEntry {
  return { session, ts: TS, event: "message.enqueued", data: DATA };
}

/** One event as the log writes it, with its newline. */
export function eventBytes(): Buffer {
  const { block, start, end } = new EntryEncoder().encode(eventOf(sessionName(0)), { seq: 500_000, prev: 499_975 });
  return Buffer.concat([block.subarray(start, end), Buffer.from("\n")]);
}
