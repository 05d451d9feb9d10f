// The mutants in src/vt (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const VT: readonly Mutant[] = [
  {
    mutant: "a row is not made again if only a combining character changed",
    file: "src/vt/kept-rows.ts",
    from: "if (isAllInWords(words) && words.byteLength",
    to: "if (words.byteLength",
    killedBy: {
      file: "src/vt/kept-rows.test.ts",
      test: "K1 a row is made again if all that changed is a combining character",
    },
  },
  {
    mutant: "a screen with missing bytes is called exact",
    file: "src/vt/follow.ts",
    from: "this.#exact = false",
    to: "this.#exact = this.#exact",
    killedBy: {
      file: "tests/screen/follow.test.ts",
      test: "missing bytes make the screen inexact, and it continues after them",
    },
  },
  {
    mutant: "another tape of the same name is taken for the one that was followed",
    file: "src/vt/follow.ts",
    from: "return this.#tape.end >= this.emulator.end;",
    to: "return true;",
    killedBy: {
      file: "tests/screen/follow.test.ts",
      test: "a tape that is not the one that was followed is read anew",
    },
  },
  {
    mutant: "a byte order mark ends an escape sequence",
    file: "src/vt/boundary.ts",
    from: " && code !== BOM",
    to: "",
    killedBy: {
      file: "src/vt/boundary.test.ts",
      test: "what is cut in the middle is held back: characters, sequences, strings",
    },
  },
  {
    mutant: "a small window does not follow the cursor sideways",
    file: "src/vt/viewport.ts",
    from: "this.#left = moved(",
    to: "this.#left = 0 * moved(",
    killedBy: {
      file: "src/vt/viewport.test.ts",
      test: "VP1 it contains the cursor, and moves no more than needed for that",
    },
  },
  {
    mutant: "a key frame of bytes that the tape has lost is used for other bytes at their offsets",
    file: "src/vt/key-frames.ts",
    from: "    if (this.#proof(offset) !== proof) return undefined; // KF1\n",
    to: "",
    killedBy: {
      file: "src/vt/key-frames.test.ts",
      test: "after a power cut took the tape's end and other bytes came there, the old key frame is not used",
    },
  },
];
