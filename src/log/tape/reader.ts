// Reads a tape beside its writer, in the same process or another: it changes nothing, and takes what it finds for what is there.
import type { Disk } from "../../world/disk.ts";
import { endOf, listStretches, readFrom, type Stretch, type TapeRead } from "./segments.ts";

/** A segment may be dropped between being listed and being opened; a tape that turns over faster than this cannot be followed. */
const MAX_LOOKS = 10;

export class TapeReader {
  private readonly disk: Disk;
  private readonly directory: string;
  private stretches: readonly Stretch[];

  constructor(disk: Disk, directory: string) {
    this.disk = disk;
    this.directory = directory;
    this.stretches = listStretches(disk, directory);
  }

  /** As of the last look. */
  get start(): number {
    return this.stretches[0]?.start ?? 0;
  }

  /** As of the last look; `read` looks again where it finds an end. */
  get end(): number {
    return endOf(this.stretches);
  }

  /** Looks again, for whoever wants to know what is there before reading it. */
  look(): void {
    this.stretches = listStretches(this.disk, this.directory);
  }

  read(offset: number, max: number): TapeRead {
    const known = readFrom(this.disk, this.stretches, offset, max);
    if (known?.kind === "bytes") return known;
    for (let look = 0; look < MAX_LOOKS; look += 1) {
      this.look();
      const found = readFrom(this.disk, this.stretches, offset, max);
      if (found !== undefined) return found;
    }
    return { kind: "end", end: offset };
  }
}
