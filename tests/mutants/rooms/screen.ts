// The mutants in src/screen (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const SCREEN: readonly Mutant[] = [
  {
    mutant: "a row is not made again if only a combining character changed",
    file: "src/screen/kept-rows.ts",
    from: "if (isAllInWords(words) && words.byteLength",
    to: "if (words.byteLength",
    killedBy: {
      file: "src/screen/kept-rows.test.ts",
      test: "K1 a row is made again if all that changed is a combining character",
    },
  },
  {
    mutant: "an unfinished sequence of the old program reaches the next one",
    file: "src/screen/farewell.ts",
    from: 'unfinished ? CANCEL : ""',
    to: '""',
    killedBy: {
      file: "tests/screen/farewell.test.ts",
      test: "a title that was only begun is not set",
    },
  },
  {
    mutant: "what a full-screen program showed is lost",
    file: "src/screen/farewell.ts",
    from: `    ...left.map((row) => \`\${row}\\r\\n\`), // F2
`,
    to: "    ...left.slice(0, 0),\n",
    killedBy: {
      file: "tests/screen/farewell.test.ts",
      test: "after a full-screen program its screen is on the normal one, with its colours, and a line says what happened",
    },
  },
  {
    mutant: "a screen with missing bytes is called exact",
    file: "src/screen/follow.ts",
    from: "this.#exact = false",
    to: "this.#exact = this.#exact",
    killedBy: {
      file: "tests/screen/follow.test.ts",
      test: "missing bytes make the screen inexact, and it continues after them",
    },
  },
  {
    mutant: "another tape of the same name is taken for the one that was followed",
    file: "src/screen/follow.ts",
    from: "return this.#tape.end >= this.emulator.end;",
    to: "return true;",
    killedBy: {
      file: "tests/screen/follow.test.ts",
      test: "a tape that is not the one that was followed is read anew",
    },
  },
  {
    mutant: "a byte order mark ends an escape sequence",
    file: "src/screen/boundary.ts",
    from: " && code !== BOM",
    to: "",
    killedBy: {
      file: "src/screen/boundary.test.ts",
      test: "what is cut in the middle is held back: characters, sequences, strings",
    },
  },
];
