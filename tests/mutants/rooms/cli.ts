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
    from: `visible(\`holdfast: \${localTimes(console, text)}\\n\`)`,
    to: `\`holdfast: \${localTimes(console, text)}\\n\``,
    killedBy: {
      file: "src/cli/print.test.ts",
      test: "T1 data, messages and refusals reach a terminal without control characters",
    },
  },
  {
    mutant: "output is delivered before the terminal is joined",
    file: "src/cli/terminal/reconnecting-holder.ts",
    from: `    if (this.#early === undefined) tell(what);
    else this.#early.push(() => tell(what));`,
    to: "    tell(what);",
    killedBy: {
      file: "src/cli/terminal/reconnecting-holder.test.ts",
      test: "HL2 output is delivered after `joined`, even if both arrive together",
    },
  },
  {
    mutant: "a holder that will be followed by another is an end",
    file: "src/cli/terminal/reconnecting-holder.ts",
    from: "const mayCome = this.#reach.processes.alive(claim) || waitedMs < RESTORE_MS;",
    to: "const mayCome = this.#reach.processes.alive(claim);",
    killedBy: {
      file: "src/cli/terminal/reconnecting-holder.test.ts",
      test: "HL3 a holder that is gone without an exit may be followed by another: its end is waited for",
    },
  },
  {
    mutant: "each `send` uses the same name: a later text is taken for a repeat",
    file: "src/cli/terminal/send.ts",
    from: 'writerName(reach, "send")',
    to: '"send"',
    killedBy: {
      file: "src/cli/terminal/send.test.ts",
      test: "SD1 each call has a name of its own: a later text is not taken for a repeat of an earlier one",
    },
  },
  {
    mutant: "systemd ends the daemon and the holders with the watchdog",
    file: "src/cli/service/unit.ts",
    from: '    "KillMode=process",\n',
    to: "",
    killedBy: {
      file: "src/cli/service/service.test.ts",
      test: "U2 the unit leaves daemon and holders alone, and always restarts the watchdog",
    },
  },
  {
    mutant: "bytes that the drawing has from the tape are drawn again",
    file: "src/cli/terminal/drawn-screen.ts",
    from: "Math.min(bytes.length, emulator.end - offset)",
    to: "0",
    killedBy: {
      file: "src/cli/terminal/window-fit.test.ts",
      test: "DS1 DS2 bytes that are known are not drawn twice, and a size waits for its offset",
    },
  },
  {
    mutant: "a clock that was set back makes a replay go back in time",
    file: "src/cli/terminal/timeline.ts",
    from: "Math.max(0, Math.min(time - begun.time, maxIdle))",
    to: "Math.min(time - begun.time, maxIdle)",
    killedBy: { file: "src/cli/terminal/timeline.test.ts", test: "time does not go back when the clock was set back" },
  },
  {
    mutant: "top answers a prompt that was not drawn as selected",
    file: "src/cli/top/state.ts",
    from: "seen === undefined || !isSame(seen.of, target.of)",
    to: "seen === undefined",
    killedBy: {
      file: "src/cli/top/state.test.ts",
      test: "TP1 nothing is answered that the last frame did not show as selected",
    },
  },
  {
    mutant: "top writes what an agent has named as it is",
    file: "src/cli/top/paint.ts",
    from: "fit(plainLine(text), ",
    to: "fit(text, ",
    killedBy: {
      file: "src/cli/top/layout.test.ts",
      test: "LA1 PT1 at every size a frame has the rows of the window, none too wide, and no character of a hostile name is raw",
    },
  },
  {
    mutant: "leaving a fleet joins the first line of a table to its heading",
    file: "src/cli/fleet/own-table.ts",
    from: "(?:(?<=\\n)\\n)?# Written",
    to: "\\n?# Written",
    killedBy: {
      file: "src/cli/fleet/own-table.test.ts",
      test: "OT1 OT2 what is ours is added to any configuration, and removed again without a trace",
    },
  },
];
