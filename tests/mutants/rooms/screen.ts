// The mutants in src/screen (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const SCREEN: readonly Mutant[] = [
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
    mutant: "screens are kept without a limit",
    file: "src/screen/live.ts",
    from: "if (total <= this.#most) return;",
    to: "if (total >= 0) return;",
    killedBy: {
      file: "tests/screen/follow.test.ts",
      test: "screens stay alive while they are asked for, in a bounded amount of memory",
    },
  },
];
