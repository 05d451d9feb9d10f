// The mutants in src/database (../mutant.ts).
import type { Mutant } from "../mutant.ts";

const FILE = "src/database/main.ts";
const UNKNOWN = {
  file: "tests/terminal/databases.test.ts",
  test: "a file that is no database, or has other tables, is said to be unknown, once",
};

export const DATABASE: readonly Mutant[] = [
  {
    mutant: "a database that cannot be read ends its reader",
    file: FILE,
    from: "    if (!isFault(error)) throw error;\n    const why",
    to: "    if (isFault(error)) throw error;\n    const why",
    killedBy: UNKNOWN,
  },
  {
    mutant: "why a database cannot be read is not said",
    file: FILE,
    from: "error.cause instanceof Error ? error.cause.message : error.message",
    to: "error.message",
    killedBy: UNKNOWN,
  },
  {
    mutant: "conversations of earlier programs are found as well",
    file: FILE,
    from: "[directory, sinceMs]",
    to: "[directory, sinceMs - sinceMs]",
    killedBy: {
      file: "tests/terminal/databases.test.ts",
      test: "the conversations of a directory since a time, with what each does, and again only if it has changed",
    },
  },
];
