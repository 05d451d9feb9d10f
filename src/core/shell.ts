// Shells: which program is one, and how a command is written so that it can be typed into one.
// SH1. What is typed means exactly the original words: nothing in them is expanded, and no word is split.
// SH2. A control character is never typed. It would be a key: a line end runs the line, an escape starts another key.

const SHELLS = /(?:^|\/)-?((?:ba|z|fi|da|a|k|mk|tc|c|)sh)$/;
/** Words that need no quotes in any shell, except as the first word. */
const PLAIN = /^[A-Za-z0-9_./-][A-Za-z0-9_@%+:,./=-]*$/;
const PLAIN_PROGRAM = /^[A-Za-z0-9_./][A-Za-z0-9_@+:,./-]*$/;
/** Options of shells that take the next word. */
const WITH_VALUE = ["--rcfile", "--init-file", "-o", "+o", "-O", "+O", "-C", "--init-command"];
/** The limit of a terminal's line buffer, for programs that read whole lines. */
const MAX_BYTES = 4_000;

/** The name of the shell, `bash` for `-/bin/bash`; undefined if the program is not a shell. */
export function shellName(program: string): string | undefined {
  return SHELLS.exec(program)?.[1];
}

/** Whether it is a shell that waits for a person: no script, no `-c`. */
export function isInteractiveShell([program = "", ...words]: readonly string[]): boolean {
  if (shellName(program) === undefined) return false;
  const rest = words.filter((_, at) => !WITH_VALUE.includes(words[at - 1] ?? ""));
  return rest.every((word) => /^(?:--|[-+][^c]*$)/.test(word));
}

/** The words as a line for this shell (SH1); undefined if they cannot be typed (SH2). */
export function typable(argv: readonly string[], shell: string): string | undefined {
  const line = argv.map((word, at) => quoted(word, at === 0, shellName(shell) ?? "sh")).join(" ");
  return isTypable(line) ? line : undefined;
}

/** SH2 */
export function isTypable(line: string): boolean {
  return line !== "" && line.isWellFormed() && !/\p{Cc}|\p{Zl}|\p{Zp}/u.test(line) && byteLength(line) <= MAX_BYTES;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

function quoted(word: string, first: boolean, shell: string): string {
  if ((first ? PLAIN_PROGRAM : PLAIN).test(word)) return word;
  if (shell === "fish") return `'${word.replace(/[\\']/g, "\\$&")}'`;
  const inside = word.replaceAll("'", "'\\''");
  // The C shells expand history even in here.
  return `'${shell === "csh" || shell === "tcsh" ? inside.replaceAll("!", "\\!") : inside}'`;
}
