// Terminals of which only the tape exists: bytes and sizes as a holder would have left them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Tape } from "../../src/log/tape/tape.ts";
import { realDisk } from "../../src/world/real/disk.ts";

const homes: string[] = [];

export class TapeHome {
  readonly path = mkdtempSync(join(tmpdir(), "hfsc-"));

  constructor() {
    homes.push(this.path);
  }

  directory(id: string): string {
    return join(this.path, "terminals", id);
  }

  /** Appends to a terminal's tape. Returns the new end. */
  append(id: string, text: string | Uint8Array, limits = { segmentBytes: 1 << 20, maxBytes: 64 << 20 }): number {
    mkdirSync(this.directory(id), { recursive: true });
    const tape = Tape.open(realDisk(), join(this.directory(id), "tape"), limits);
    tape.append(Buffer.from(text));
    tape.close();
    return tape.end;
  }

  skip(id: string, length: number, text: string): void {
    const tape = Tape.open(realDisk(), join(this.directory(id), "tape"), { segmentBytes: 1 << 20, maxBytes: 64 << 20 });
    tape.skip(length);
    tape.append(Buffer.from(text));
    tape.close();
  }

  sizes(
    id: string,
    ...sizes: readonly { readonly offset: number; readonly cols: number; readonly rows: number }[]
  ): void {
    mkdirSync(this.directory(id), { recursive: true });
    writeFileSync(join(this.directory(id), "sizes.jsonl"), sizes.map((size) => `${JSON.stringify(size)}\n`).join(""));
  }
}

export function removeHomes(): void {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
}
