// One round over the files of a home: what has changed since the last one is stored.
// WK1. What names others is read before them and stored after them: an exit after the tape that it says the end of, a
//      checkpoint after its pages. So what is in the database is at most too new.
// WK2. A file is not read again while its stamp is the same, if it had not just changed when it was read.
// WK3. The files of a session's log are stored in their order, and their names are looked at again afterwards: one that
//      has become a segment meanwhile is stored too. Only whole lines are.
// WK4. What is gone on disk when it is to be read is left out.
import { joinPath } from "../../base/path.ts";
import { openExisting, readAll, wholeLines } from "../../log/file/file.ts";
import { isLogFile } from "../../log/session/log-segments.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk, OpenFile, Stat } from "../../world/disk.ts";
import { blobPath, PIECE_BYTES, tapeContent } from "../blob-form.ts";
import type { StoredBlobs } from "./stored.ts";
import { tapeEnd, tapeStamp } from "./tape-end.ts";
import { growsOnly, howOf, isLive } from "./which.ts";

export type Round = "tick" | "snapshot";
export type ShipPlace = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly home: string;
  readonly tapeBytes: number;
};

/** Of files and tapes, by their paths; `blobs`: under which they are stored. */
export type Stamps = Map<string, { readonly stamp: string; readonly blobs: readonly string[] }>;

type Found = { readonly path: string; readonly stat: Stat };
/** What is to be stored, and then the stamp to remember. */
type Read = { readonly path: string; readonly stamp: string | undefined; readonly pieces: readonly Uint8Array[] };

/** WK2. Longer than any clock of a file system takes to tick. */
const JUST_MS = 2_000;
/** How many files are looked at before others have their turn. */
const AT_ONCE = 100;
/** A log that changes its files more often than this while it is read is left to the next round. */
const MAX_LOOKS = 5;

export class Walk {
  readonly #place: ShipPlace;
  readonly #stored: StoredBlobs;
  readonly #stamps: Stamps;
  readonly #round: Round;
  #looked = 0;
  /** Blobs of what is there. */
  readonly seen = new Set<string>();
  /** Directories. */
  readonly visited = new Set<string>();

  constructor(place: ShipPlace, stored: StoredBlobs, stamps: Stamps, round: Round) {
    this.#place = place;
    this.#stored = stored;
    this.#stamps = stamps;
    this.#round = round;
  }

  async directory(path: string): Promise<void> {
    this.visited.add(path);
    const { files, directories, tapes } = this.#look(path);
    await this.#giveWay(files.length + tapes.length);
    const first = files.filter((file) => !growsOnly(file.path)).flatMap((file) => this.#read(file) ?? []); // WK1
    for (const directory of directories) await this.directory(directory);
    for (const tape of tapes) await this.#tape(tape);
    for (const file of files.filter((file) => growsOnly(file.path))) await this.#store(this.#read(file));
    for (const read of first) await this.#store(read);
    if (this.#round === "snapshot") await this.#log(path);
  }

  #look(path: string) {
    const { disk, home } = this.#place;
    const [files, directories, tapes]: [Found[], string[], string[]] = [[], [], []];
    for (const name of disk.list(joinPath(home, path)).sort()) {
      const below = `${path}/${name}`;
      const how = howOf(below);
      const stat = how === "never" ? undefined : disk.lstat(joinPath(home, below));
      if (stat?.kind === "file" && (how === "now" || (how === "snapshot" && this.#round === "snapshot")))
        files.push({ path: below, stat });
      if (stat?.kind !== "directory") continue;
      if (how === "tape") tapes.push(below);
      else if (this.#round === "snapshot" || isLive(below)) directories.push(below);
    }
    return { files, directories, tapes };
  }

  async #giveWay(looked: number): Promise<void> {
    this.#looked += looked;
    if (this.#looked < AT_ONCE) return;
    this.#looked = 0;
    await new Promise<void>((go) => this.#place.clock.soon(go));
  }

  /** Undefined if it is as it was, or gone. */
  #read({ path, stat }: Found): Read | undefined {
    const stamp = this.#unchanged(path, stampOf(stat));
    return stamp === undefined ? undefined : this.#opened(path, stat, stamp, (file) => file.size());
  }

  /** Undefined if it is as it was when it was stored: then it is seen. */
  #unchanged(path: string, stamp: string): string | undefined {
    const known = this.#stamps.get(path);
    if (known?.stamp !== stamp) return stamp;
    for (const blob of known.blobs) this.seen.add(blob);
    return undefined;
  }

  #opened(path: string, stat: Stat, stamp: string, lengthOf: (file: OpenFile) => number): Read | undefined {
    const { disk, home, clock } = this.#place;
    const file = openExisting(disk, joinPath(home, path));
    if (file === undefined) return undefined; // WK4
    try {
      const length = lengthOf(file);
      const count = Math.max(1, Math.ceil(length / PIECE_BYTES));
      const pieces = Array.from({ length: count }, (_, n) =>
        readAll(file, n * PIECE_BYTES, Math.min(PIECE_BYTES, length - n * PIECE_BYTES)),
      );
      const isSettled = Math.abs(clock.now() - stat.modifiedMs) > JUST_MS; // WK2
      return { path, stamp: isSettled ? stamp : undefined, pieces };
    } finally {
      file.close();
    }
  }

  async #store(read: Read | undefined): Promise<void> {
    if (read === undefined) return;
    const blobs = read.pieces.map((_, piece) => blobPath({ kind: "file", path: read.path, piece }));
    for (const [piece, bytes] of read.pieces.entries()) await this.#put(blobs[piece] ?? "", bytes);
    if (read.stamp !== undefined) this.#stamps.set(read.path, { stamp: read.stamp, blobs });
  }

  async #put(blob: string, bytes: Uint8Array): Promise<void> {
    this.seen.add(blob);
    await this.#stored.put(blob, bytes);
  }

  async #tape(path: string): Promise<void> {
    const { disk, home, tapeBytes } = this.#place;
    const found = tapeStamp(disk, joinPath(home, path));
    if (found === undefined || this.#unchanged(path, found.stamp) === undefined) return;
    const blob = blobPath({ kind: "tape", path });
    await this.#put(blob, tapeContent(tapeEnd(disk, found.stretches, tapeBytes)));
    this.#stamps.set(path, { stamp: found.stamp, blobs: [blob] });
  }

  /** WK3 */
  async #log(path: string): Promise<void> {
    const { disk, home } = this.#place;
    const names = () => disk.list(joinPath(home, path)).filter(isLogFile).sort();
    for (let looks = 0, found = names(); looks < MAX_LOOKS && found.length > 0; looks += 1) {
      for (const name of found) await this.#lines(`${path}/${name}`);
      const again = names();
      if (again.join() === found.join()) return;
      found = again;
    }
  }

  async #lines(path: string): Promise<void> {
    const stat = this.#place.disk.lstat(joinPath(this.#place.home, path));
    const stamp = stat?.kind === "file" ? this.#unchanged(path, stampOf(stat)) : undefined;
    if (stat === undefined || stamp === undefined) return;
    await this.#store(this.#opened(path, stat, stamp, growsOnly(path) ? wholeLines : (file) => file.size()));
  }
}

function stampOf({ id, size, modifiedMs }: Stat): string {
  return `${id} ${size} ${modifiedMs}`;
}
