// The words of one command of a shell text, as far as they were read, and whether a value may stand behind them.
// SC1. A value arrives as one word, but some commands execute words: eval, trap, `sh -c`. Others take a word for a
//      variable, or for a number, and bash executes what stands in the subscript of a variable's name (`a[$(…)]`): let,
//      declare, read, unset, `test -v`, `printf -v`. A value is refused there, whatever shell will read the text.
// SC2. What we take for a command may be more than a shell would (`echo sh -c …`): that refuses more, never less.
// SC3. Only values of the workflow are seen. What a script does with its own variables is the script's.

/** Stands for a value of the workflow, in a word. */
export const VALUE = "\u0000";
/** Stands for the output of another command. */
export const OUTPUT = "\u0001";
export const HERE_STRING = "<<<";

const SHELLS = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"];
const OTHER_USERS = ["su", "runuser"];
/** Words after which a command begins. */
const BEFORE_COMMAND = [
  ...["if", "then", "elif", "else", "while", "until", "do", "{", "}", "!", "time", "coproc"],
  ...["command", "builtin", "exec"],
];
const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[.*\])?\+?=/s;
const OPEN_SUBSCRIPT = /^[A-Za-z_]\w*\[[^\]]*$/s;

/** What a value would be part of, by the command that has it among its arguments. */
const EXECUTES: Readonly<Record<string, (args: readonly string[], prefix: string) => boolean>> = {
  eval: () => true,
  trap: () => true,
  let: () => true,
  unset: () => true,
  mapfile: () => true,
  readarray: () => true,
  getopts: () => true,
  declare: isDeclaredName,
  typeset: isDeclaredName,
  local: isDeclaredName,
  readonly: isDeclaredName,
  read: (args) => !/^-\w*[pdtnNui]$/.test(args.at(-1) ?? ""),
  test: isTestedName,
  "[": isTestedName,
  /** Behind `-v`, or behind a value that may be `-v`. */
  printf: ([first = "", ...others], prefix) =>
    prefix.startsWith("-v") || (others.length === 0 && /^(?:-v|-\0+|\0+v?)$/.test(first)),
};

/** The name of a file, or of another descriptor. */
const REDIRECTION = /^\d*(?:<|>|>>|<>|>\|)&?$/;

/** Why a value may not stand here (SC1); undefined if it may. `isArray`: in the brackets of `a=(…)`. */
export function whyNotHere(words: readonly string[], prefix: string, isArray: boolean): string | undefined {
  const before = words.at(-1) ?? "";
  if (before === HERE_STRING) return shellIn(words) === undefined ? undefined : "the text that another shell runs";
  if (REDIRECTION.test(before) || /^\d*[<>]/.test(prefix)) return undefined;
  const at = commandAt(words);
  if (at === words.length && OPEN_SUBSCRIPT.test(prefix)) return "a subscript";
  if (isArray && prefix.startsWith("[")) return "a subscript";
  const [name, ...args] = words.slice(at);
  if (name !== undefined && Object.hasOwn(EXECUTES, name) && EXECUTES[name]?.(args, prefix) === true)
    return `this argument of ${name}`;
  return isScript(words, prefix) ? "the text that another shell runs" : undefined;
}

/** Whether what a command reads is a script: its here-document, for example. */
export function readsScript(words: readonly string[]): boolean {
  const shell = shellIn(words);
  return shell !== undefined && !shell.options.some(isCommandOption);
}

/** Inside of the text's own `${…}`: a subscript, or the offset of a substring, which is a number. */
export function isInSubscript(text: string): boolean {
  return openExpansions(text).some((open) => /^[!#]?\w+(?:\[[^\]]*$|(?:\[[^\]]*\])?:(?![-=?+]))/s.test(open));
}

/** What follows each `${` that is not closed yet. */
function openExpansions(text: string): string[] {
  const starts: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text.startsWith("${", at)) starts.push(at + 2);
    else if (text[at] === "}") starts.pop();
  }
  return starts.map((start) => text.slice(start));
}

function commandAt(words: readonly string[]): number {
  let at = 0;
  for (;;) {
    const word = words[at] ?? "";
    if (word === "function") at += 2;
    else if (BEFORE_COMMAND.includes(word) || ASSIGNMENT.test(word)) at += 1;
    else return Math.min(at, words.length);
  }
}

/** `declare x=…` has a value of a variable; before the `=`, and with `-i` or `-n`, it is more than that. */
function isDeclaredName(args: readonly string[], prefix: string): boolean {
  return args.some((word) => /^-\w*[in]/.test(word)) || !/^[A-Za-z_]\w*\+?=/.test(prefix);
}

/** Behind `-v`, or behind a value that may be `-v`. */
function isTestedName(args: readonly string[]): boolean {
  const before = args.at(-1) ?? "";
  return before === "-v" || before === "-R" || before.includes(VALUE);
}

/** Whether the next word, which begins with `prefix`, is the script that a shell among these words runs. */
export function isScript(words: readonly string[], prefix: string): boolean {
  const before = words.at(-1) ?? "";
  const shell = shellIn(words);
  if (shell?.options.some(isCommandOption) === true) return shell.operands === 0 && !/^[-+]/.test(prefix);
  const isOther = words.some((word) => OTHER_USERS.includes(nameOf(word)));
  return isOther && (/^(?:-\w*c|--command)$/.test(before) || prefix.startsWith("--command="));
}

type ShellWords = { readonly options: readonly string[]; readonly operands: number };

/** The shell that is started somewhere in these words, behind `env`, `sudo`, `xargs` … */
function shellIn(words: readonly string[]): ShellWords | undefined {
  const at = words.findIndex((word) => SHELLS.includes(nameOf(word)));
  if (at < 0) return undefined;
  const rest = words.slice(at + 1).filter((_, index, all) => !/^[-+]\w*[oO]$/.test(all[index - 1] ?? ""));
  const options = rest.filter((word) => /^[-+]/.test(word));
  return { options, operands: rest.length - options.length };
}

function isCommandOption(word: string): boolean {
  return /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word);
}

function nameOf(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
