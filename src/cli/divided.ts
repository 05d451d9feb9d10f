// A command line whose words after `--` are a program to run, not arguments.

const RUNS_PROGRAM = ["new", "attach", "agent new"];

/** stricli cannot tell a name from the first word of a program after `--`, so that program is hidden from it. */
export function divided(argv: readonly string[]): { before: readonly string[]; words: readonly string[] | undefined } {
  const end = runsProgram(argv) === undefined ? -1 : argv.indexOf("--");
  return end < 0 ? { before: argv, words: undefined } : { before: argv.slice(0, end), words: argv.slice(end + 1) };
}

export function runsProgram(argv: readonly string[]): string | undefined {
  return [argv[0] ?? "", argv.slice(0, 2).join(" ")].find((route) => RUNS_PROGRAM.includes(route));
}
