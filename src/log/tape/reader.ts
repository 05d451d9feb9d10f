// Reads a tape while it is being written, in the same process or another, without changing anything.
import type { Disk } from "../../world/disk.ts";
import { endOf, listStretches, readFrom, type Stretch, type TapeRead } from "./segments.ts";

/** A segment may be dropped between listing and opening it; a tape that changes faster than this cannot be followed. */
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

  /** As of the last listing. */
  get start(): number {
    return this.stretches[0]?.start ?? 0;
  }

  /** As of the last listing; `read` lists again when it reaches the end. */
  get end(): number {
    return endOf(this.stretches);
  }

  /** Lists again, for callers that need to know what is there before reading it. */
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
