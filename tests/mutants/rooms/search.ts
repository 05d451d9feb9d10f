// The mutants in src/search (../mutant.ts).
import type { Mutant } from "../mutant.ts";

const TESTS = "src/search/index.test.ts";

export const SEARCH: readonly Mutant[] = [
  {
    mutant: "the oldest line is found first",
    file: "src/search/finder.ts",
    from: "if (one.at !== other.at) return one.at > other.at;",
    to: "if (one.at !== other.at) return one.at < other.at;",
    killedBy: {
      file: TESTS,
      test: "FD1 lines of several terminals come newest first, the same with an index, with a part of one, and without",
    },
  },
  {
    mutant: "a damaged page of the index is believed",
    file: "src/search/group-file.ts",
    from: "return crc32(page, number) === sum ? page : undefined; // GF2",
    to: "return sum < 0 ? undefined : page;",
    killedBy: {
      file: TESTS,
      test: "GF2 a damaged byte is noticed wherever it is: the line is still found, and the file is made again",
    },
  },
  {
    mutant: "the index grows without a limit",
    file: "src/search/indexer.ts",
    from: "while (this.#bytes + size > this.#order.maxBytes) {",
    to: "while (this.#bytes + size < 0) {",
    killedBy: {
      file: TESTS,
      test: "IN2 the index stays below its limit, the oldest goes first, and is not made again with every run",
    },
  },
  {
    mutant: "the index of bytes that a power cut took is kept",
    file: "src/search/indexer.ts",
    from: "return group.head.proof === text.proof(file.to);",
    to: "return text.proof(file.to) >= 0;",
    killedBy: {
      file: TESTS,
      test: "IN3 if a tape lost its end and was written on, its new lines are found",
    },
  },
];
