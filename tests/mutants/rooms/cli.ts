// The mutants in src/cli (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const CLI: readonly Mutant[] = [
  {
    mutant: "secrets of the shell are copied into the service's unit",
    file: "src/cli/service/unit.ts",
    from: "TAKEN.test(name) && !",
    to: "!",
    killedBy: {
      file: "src/cli/service/service.test.ts",
      test: "U4 the shell's PATH, language and directories are copied; its login, secrets and odd values are not",
    },
  },
  {
    mutant: "the output of a holder that is gone is not read from its tape",
    file: "src/cli/terminal/reconnecting-holder.ts",
    from: `      if (part.kind === "bytes") this.#events.output?.(part.offset, part.bytes);
      else`,
    to: '      if (part.kind !== "bytes")',
    killedBy: {
      file: "src/cli/terminal/reconnecting-holder.test.ts",
      test: "all output of a program is delivered before its end (HL4) > from the tape if its holder was already gone",
    },
  },
  {
    mutant: "input that was taken is reported as not sent",
    file: "src/cli/terminal/send.ts",
    from: "    if (taken?.ok === true) return taken; // SD3\n",
    to: "",
    killedBy: {
      file: "src/cli/terminal/send.test.ts",
      test: "SD3 input taken before the program ended was sent, even if both arrive together",
    },
  },
  {
    mutant: "entries behind the end of a range are lost for the next one",
    file: "src/cli/log/merge.ts",
    from: `    cursor.next = entry.seq;
    if (entry.seq > until) return;`,
    to: "    cursor.next = entry.seq;",
    killedBy: {
      file: "src/cli/log/merge.test.ts",
      test: "inOrder > a range contains what it says, and the next one continues after it",
    },
  },
  {
    mutant: "a reader that closes the pipe early is a failure",
    file: "src/cli/run.ts",
    from: '    if (isFault(error, "EPIPE")) return EXIT.ok; // N3\n',
    to: "",
    killedBy: {
      file: "src/cli/run.test.ts",
      test: "a closed pipe is not a failure, any other Fault is exit 1 with its hint",
    },
  },
  {
    mutant: "JSON for a terminal contains control characters",
    file: "src/cli/print.ts",
    from: `\`\${visibleLine(JSON.stringify(value))}\\n\``,
    to: `\`\${JSON.stringify(value)}\\n\``,
    killedBy: {
      file: "src/cli/print.test.ts",
      test: "T1 data, messages and refusals reach a terminal without control characters",
    },
  },
  {
    mutant: "a message contains control characters",
    file: "src/cli/print.ts",
    from: `visible(\`holdfast: \${text}\\n\`)`,
    to: `\`holdfast: \${text}\\n\``,
    killedBy: {
      file: "src/cli/print.test.ts",
      test: "T1 data, messages and refusals reach a terminal without control characters",
    },
  },
];
