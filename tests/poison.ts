// A line in a session's log that is intact, but that the present version cannot use.
import { readFileSync, writeFileSync } from "node:fs";

/** Replaces the last line, with the same seq; the daemon must not be running. */
export function rewriteLast(path: string, event: string, data: string): void {
  writeFileSync(path, sealed(readFileSync(path, "utf8"), event, data));
}

/** The text of a log whose last line has this event instead, and a right sum. */
export function sealed(text: string, event: string, data: string): string {
  const lines = text.split("\n").slice(0, -1);
  const { seq, prev, session_id, ts } = JSON.parse(lines.at(-1) ?? "");
  const head = JSON.stringify({ seq, prev, session_id, ts, event }).slice(0, -1);
  const line = `${head},"data":${data}`;
  const sum = (Bun.hash.crc32(line) >>> 0).toString(16).padStart(8, "0");
  return [...lines.slice(0, -1), `${line},"sum":"${sum}"}`, ""].join("\n");
}
