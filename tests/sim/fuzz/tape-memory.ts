// What the fuzzer remembers of a tape: the bytes it was given, and how far they were synced.
// TM1. Synced bytes are read back unchanged, except those that the bound allows to be dropped.
// TM2. Unsynced bytes may be gone, torn or zero after a crash; whatever is there then stays on the tape from then on.
import type { Tape } from "../../../src/log/tape/tape.ts";
import { ensure } from "../log/oracle.ts";

export const TAPE_LIMITS = { segmentBytes: 64, maxBytes: 600 };

export class TapeMemory {
  /** By offset; undefined if the byte is nowhere. */
  private bytes: (number | undefined)[] = [];
  private synced = 0;
  private furthest = 0;

  append(tape: Tape, size: number): void {
    const bytes = Uint8Array.from({ length: size }, (_, i) => 1 + ((this.bytes.length + i) % 250));
    const offset = tape.append(bytes);
    ensure(offset === this.bytes.length, `the tape goes on at ${this.bytes.length}, not at ${offset}`);
    for (const byte of bytes) this.bytes.push(byte);
    this.furthest = Math.max(this.furthest, this.bytes.length);
  }

  async sync(tape: Tape): Promise<void> {
    const end = this.bytes.length;
    await tape.sync();
    this.synced = Math.max(this.synced, end);
  }

  /** After a crash: checks TM1, and learns the rest (TM2). */
  recover(tape: Tape): void {
    ensure(tape.end >= this.synced, `the tape ends at ${tape.end}, but ${this.synced} bytes were synced`);
    const found = readAll(tape);
    const mayStart = Math.max(0, this.furthest - TAPE_LIMITS.maxBytes + TAPE_LIMITS.segmentBytes);
    for (let at = 0; at < this.synced; at += 1) {
      if (at < tape.start && at < mayStart) continue;
      ensure(found[at] === this.bytes[at], `byte ${at} of the tape is ${this.bytes[at]}, not ${found[at]}`); // TM1
    }
    this.bytes = found; // TM2
  }
}

function readAll(tape: Tape): (number | undefined)[] {
  const found: (number | undefined)[] = new Array(tape.end).fill(undefined);
  for (let offset = 0; ; ) {
    const read = tape.read(offset, 50);
    if (read.kind === "end") return found;
    if (read.kind === "bytes") for (const [i, byte] of read.bytes.entries()) found[offset + i] = byte;
    offset = read.kind === "bytes" ? offset + read.bytes.length : read.to;
  }
}
