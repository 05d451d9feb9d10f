// The mutants in src/drill (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const DRILL: readonly Mutant[] = [
  {
    mutant: "bytes that never arrived are not noticed",
    file: "src/drill/copy.ts",
    from: "    if (off > 0) this.#findings.lose",
    to: "    if (off > 1 << 20) this.#findings.lose",
    killedBy: {
      file: "src/drill/copy.test.ts",
      test: "drill: a reader's copy > bytes that never arrived are counted as lost",
    },
  },
  {
    mutant: "a program that was started twice is not noticed",
    file: "src/drill/copy.ts",
    from: `    if (this.#ready) this.#findings.violate(\`\${this.#name}: its program was started twice\`);
`,
    to: "",
    killedBy: {
      file: "src/drill/copy.test.ts",
      test: "drill: a reader's copy > a restarted program is noticed",
    },
  },
  {
    mutant: "a daemon that was killed while it recovered counts as a live one",
    file: "src/drill/report.ts",
    from: " && kill.recovering === recovering",
    to: "",
    killedBy: {
      file: "src/drill/report.test.ts",
      test: "drill: report > median, p95 and max count only live daemons that were killed",
    },
  },
  {
    mutant: "the drill's agent repeats what it had done before it was killed",
    file: "src/drill/agent-program.ts",
    from: '    logged "done $word" && continue',
    to: "    :",
    killedBy: {
      file: "src/drill/agent-program.test.ts",
      test: "an agent of a drill continues where its last process was killed, and does nothing twice",
    },
  },
];
