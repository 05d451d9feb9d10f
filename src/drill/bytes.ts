// Compares what a reader saw with the tape, and checks that every typed line arrived once.

import { tapeDirectory } from "../home/held/holder-files.ts";
import { TapeReader } from "../log/tape/reader.ts";
import type { Disk } from "../world/disk.ts";
import type { Findings } from "./findings.ts";
import type { Entry } from "./ledger.ts";

const PIECE = 1 << 20;

/** The reader may be behind the tape, since the program continues; what it has seen must be there, byte for byte. */
export function compareWithTape(disk: Disk, { attached, name }: Entry, findings: Findings): void {
  const seen = attached.copy.bytes;
  const taped = readTape(new TapeReader(disk, tapeDirectory(attached.place)), seen.length);
  const missing = seen.length - taped.length;
  if (missing > 0) findings.lose(missing, `${name}: ${missing} shown bytes are not on its tape`);
  const at = taped.findIndex((byte, place) => byte !== seen[place]);
  if (at >= 0) findings.lose(1, `${name}: its tape differs from what was shown, from byte ${at} on`);
}

function readTape(reader: TapeReader, length: number): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < length; ) {
    const found = reader.read(at, Math.min(PIECE, length - at));
    if (found.kind !== "bytes") break;
    parts.push(found.bytes);
    at += found.bytes.length;
  }
  return Buffer.concat(parts);
}

/** A program that was ended may not have read what was confirmed to its writer; but nothing ever arrives twice. */
export function compareEchoes({ attached, name, fate }: Entry, findings: Findings): void {
  const { confirmed, refused, copy } = attached;
  const missing = [...confirmed].filter((words) => !copy.echoes.has(words));
  if (fate === "runs" && missing.length > 0) {
    findings.lose(missing.length, `${name}: confirmed, but never read by its program: ${missing.join(", ")}`);
  }
  for (const [words, times] of copy.echoes) {
    if (times > 1) findings.double(times - 1, `${name}: "${words}" was read ${times} times`);
    if (!confirmed.has(words) && !refused.has(words)) findings.violate(`${name}: "${words}" was read, but never typed`);
  }
}
