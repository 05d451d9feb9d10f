// Opens the blobs of a mirror, and says what is in them.
// OP1. What the mirror has lost, or what does not open, is not used, and ends the work (stopped.ts).
// OP2. A piece that is not whole ends its file: what follows is of a longer file that was there before (BF1 of
//      blob-form.ts).
import { refused } from "../base/result.ts";
import { PIECE_BYTES, type TapeBytes, unpack, unpackTape } from "./blob-form.ts";
import type { HomeFile } from "./home-files.ts";
import type { Mirror, MirroredBlob } from "./mirror.ts";
import type { FleetSeal } from "./seal.ts";
import { orStopped } from "./stopped.ts";

/** The mirror had it, and it is damaged: fetching it again may help. */
export const LOST = "fleet-mirror";

export class Opener {
  readonly #mirror: Mirror;
  readonly #seal: FleetSeal;
  readonly #home: string;

  constructor(mirror: Mirror, seal: FleetSeal, home: string) {
    this.#mirror = mirror;
    this.#seal = seal;
    this.#home = home;
  }

  *pieces({ pieces }: HomeFile): Generator<Uint8Array> {
    for (const piece of pieces) {
      const bytes = orStopped(unpack(piece.path, this.#opened(piece)));
      yield bytes;
      if (bytes.length < PIECE_BYTES) return; // OP2
    }
  }

  beginning(file: HomeFile): Uint8Array {
    for (const piece of this.pieces(file)) return piece;
    return new Uint8Array();
  }

  tape({ pieces: [blob] }: HomeFile): readonly TapeBytes[] {
    return blob === undefined ? [] : orStopped(unpackTape(blob.path, this.#opened(blob)));
  }

  /** OP1 */
  #opened(blob: MirroredBlob): Uint8Array {
    const bytes = this.#mirror.read(blob);
    if (bytes === undefined)
      return orStopped(refused(LOST, `The mirror has lost ${blob.path}.`, "It can be repeated."));
    return orStopped(this.#seal.openBlob(this.#home, { path: blob.path, seq: blob.seq, bytes }));
  }
}
