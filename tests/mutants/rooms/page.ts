// The mutants in src/page (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const PAGE: readonly Mutant[] = [
  {
    mutant: "what changed while a list was fetched is not fetched again",
    file: "src/page/state/feed.ts",
    from: "      if (isWanted) void this.#run(); // FE1\n",
    to: "",
    killedBy: {
      file: "src/page/state/feed.test.ts",
      test: "FE1 FE2 many wishes during a fetch and its pause become one more fetch",
    },
  },
  {
    mutant: "a list that cannot be fetched is shown as empty",
    file: "src/page/state/feed.ts",
    from: "if (fetched.ok) this.value.value = fetched.value;",
    to: "this.value.value = fetched.ok ? fetched.value : undefined;",
    killedBy: { file: "src/page/state/feed.test.ts", test: "FE3 a refusal is shown, and the last value stays" },
  },
  {
    mutant: "what is typed before a terminal is connected is dropped",
    file: "src/page/terminal/terminal-session.ts",
    from: "else if (this.#early.length < MAX_EARLY) this.#early.push(() => this.input(bytes));",
    to: "else if (this.#early.length < MAX_EARLY) return;",
    killedBy: {
      file: "src/page/terminal/terminal-session.test.ts",
      test: "TS1 what is typed before the first connection is typed then, and what another program would get is reported",
    },
  },
];
