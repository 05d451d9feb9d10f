// Shell texts with `${…}`: each value goes into the program's environment, and the text gets a reference to it.
// H1. A value is never part of the text that a shell parses: whatever it contains, it stays a value. The text is the
//     same for every value.
// H2. The reference is written so that the value arrives as one word, unsplit and unglobbed: bare, in "…", in '…', in a
//     here-document. If our parsing of the quotes is wrong, the value may be split into words; it is still not
//     executed.
// H3. Where a shell would execute it or could not see it, a value is refused: in $((…)), $[…], ((…)) and [[…]] (bash
//     evaluates what it finds there), in subscripts, as an argument of what executes it (shell-command.ts), in the
//     here-document of a shell, and in a here-document with a quoted end.
import { memo } from "../../base/memo.ts";
import { ok, type Result } from "../../base/result.ts";
import type { Expression, Flaw } from "./expression.ts";
import { HERE_STRING, isInSubscript, OUTPUT, readsScript, VALUE, whyNotHere } from "./shell-command.ts";
import { type Part, parseTemplate } from "./template.ts";

export type ShellText = { readonly script: string; readonly values: readonly ShellValue[] };
export type ShellValue = { readonly name: string; readonly expression: Expression };

/** The variables that values are in begin with it. */
export const VALUE_PREFIX = "HOLDFAST_VALUE_";

export const shellText: (text: string) => Result<ShellText, Flaw> = memo((text) => {
  const parts = parseTemplate(text);
  return parts.ok ? joined(parts.value) : parts;
});

function joined(parts: readonly Part[]): Result<ShellText, Flaw> {
  const quotes = new Quotes();
  const values: ShellValue[] = [];
  let script = "";
  for (const part of parts) {
    if (part.kind === "text") {
      quotes.read(part.text);
      script += part.text;
      continue;
    }
    const name = `${VALUE_PREFIX}${values.length + 1}`;
    const reference = quotes.reference(name);
    if (!reference.ok) return { ok: false, error: { at: part.at, ...reference.error } };
    values.push({ name, expression: part.expression });
    script += reference.value;
  }
  return ok({ script, values });
}

type Heredoc = {
  readonly end: string;
  readonly quoted: boolean;
  readonly tabs: boolean;
  /** A shell reads it. */
  readonly script: boolean;
};
/** The words of the present command that are complete, and the one that is not. */
type Command = { words: string[]; word: string | undefined; continued: boolean };
type Context =
  | {
      readonly kind: "plain";
      readonly closing: ")" | "`" | undefined;
      readonly isArray: boolean;
      readonly command: Command;
    }
  | { readonly kind: "single" }
  | { readonly kind: "ansi" }
  | { readonly kind: "double" }
  | { readonly kind: "comment" }
  | { readonly kind: "number"; readonly closing: "))" | "]" }
  | { readonly kind: "test" }
  | ({ readonly kind: "heredoc" } & Heredoc);

/** What opens a context inside another; longest first. */
const OPENS: readonly (readonly [token: string, context: () => Context])[] = [
  ["$((", () => ({ kind: "number", closing: "))" })],
  ["$[", () => ({ kind: "number", closing: "]" })],
  ["$(", () => plain(")")],
];

function plain(closing: ")" | "`" | undefined, isArray = false): Context & { kind: "plain" } {
  return { kind: "plain", closing, isArray, command: { words: [], word: undefined, continued: false } };
}

const HEREDOC = /<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|(\\?)([A-Za-z0-9_.-]+))/y;

/** Tracks the quotes of a shell text as far as it was read. */
class Quotes {
  #stack: Context[] = [plain(undefined)];
  /** All that a shell would expand, for its own `${…}`. */
  #expanded = "";
  /** Here-documents that start with the next line. */
  #awaited: Heredoc[] = [];
  /** The current line so far, for the end of a here-document; and whether a word may start. */
  #line = "";
  #fresh = true;

  read(text: string): void {
    for (let at = 0; at < text.length; ) {
      const before = this.#top();
      const length = this.#step(text, at);
      const piece = text.slice(at, at + length);
      this.#note(before, piece);
      this.#fresh = /[\s;|&()`]$/.test(piece);
      at += length;
      if (piece.endsWith("\n")) this.#lineEnds();
      else this.#line += piece;
    }
  }

  /** H2. What is inserted is also part of the line: it does not end a here-document. */
  reference(name: string): Result<string, Omit<Flaw, "at">> {
    this.#line += "$";
    this.#fresh = false;
    if (this.#stack.some(({ kind }) => kind === "number" || kind === "test")) return NUMBERS;
    const context = this.#top();
    if (context.kind === "heredoc" && context.quoted) return QUOTED_END;
    const where = this.#whyNotHere(context);
    if (where !== undefined) return executed(where);
    this.#addToWord(VALUE);
    this.#expanded += VALUE;
    if (context.kind === "single") return ok(`'"\${${name}}"'`);
    if (context.kind === "ansi") return ok(`'"\${${name}}"$'`);
    return ok(context.kind === "plain" ? `"\${${name}}"` : `\${${name}}`);
  }

  #whyNotHere(context: Context): string | undefined {
    if (context.kind === "comment") return undefined;
    if (isInSubscript(this.#expanded)) return "a subscript";
    if (context.kind === "heredoc") return context.script ? "the here-document of a shell" : undefined;
    const { command, isArray } = this.#plain();
    return whyNotHere(command.words, command.word ?? "", isArray);
  }

  #top(): Context {
    return this.#stack.at(-1) ?? plain(undefined);
  }

  /** The text outside of quotes that the present place is part of. */
  #plain(): Context & { kind: "plain" } {
    return this.#stack.findLast((context) => context.kind === "plain") ?? plain(undefined);
  }

  #addToWord(text: string): void {
    const { command } = this.#plain();
    command.word = `${command.word ?? ""}${text}`;
  }

  /** What a piece means for the words of its command. `before`: the context it was read in. */
  #note(before: Context, piece: string): void {
    const after = this.#top();
    if (before.kind !== "single" && before.kind !== "comment") this.#expanded += piece;
    if (before.kind === "comment" || before.kind === "heredoc" || after.kind === "comment") return;
    if (before.kind !== "plain") {
      if (before === after) this.#addToWord(piece.length === 2 && piece.startsWith("\\") ? piece.slice(1) : piece);
      return;
    }
    if (after === before) noteIn(before.command, piece);
    else if (after.kind === "single" || after.kind === "double" || after.kind === "ansi") before.command.word ??= "";
    else if (this.#stack.includes(before)) noteOpening(before.command, piece);
  }

  /** Returns how many characters were consumed. */
  #step(text: string, at: number): number {
    const context = this.#top();
    if (context.kind === "single") return this.#until(text[at] === "'");
    if (context.kind === "comment") return this.#until(text[at] === "\n");
    if (text[at] === "\\") return text[at + 1] === "\n" ? 1 : 2;
    if (context.kind === "ansi") return this.#until(text[at] === "'");
    if (context.kind === "heredoc" && context.quoted) return 1;
    const opening = OPENS.find(([token]) => text.startsWith(token, at));
    if (opening !== undefined) return this.#push(opening[1](), opening[0].length);
    if (text[at] === "`") return this.#backtick(context);
    if (context.kind === "double") return this.#until(text[at] === '"');
    return context.kind === "heredoc" ? 1 : this.#bare(context, text, at);
  }

  /** Outside of quotes: plain text, $((…)) and [[…]]. */
  #bare(context: Context, text: string, at: number): number {
    if (text[at] === "'") return this.#push({ kind: "single" }, 1);
    if (text[at] === '"') return this.#push({ kind: "double" }, 1);
    if (context.kind === "number")
      return this.#close(text.startsWith(context.closing, at), context.closing.length) ?? this.#parenthesis(text, at);
    if (context.kind === "test") return this.#close(text.startsWith("]]", at), 2) ?? 1;
    if (text.startsWith("$'", at)) return this.#push({ kind: "ansi" }, 2);
    if (this.#fresh && text[at] === "#") return this.#push({ kind: "comment" }, 1);
    if (this.#fresh && /^\[\[\s/.test(text.slice(at, at + 3))) return this.#push({ kind: "test" }, 2);
    if (this.#fresh && text.startsWith("((", at)) return this.#push({ kind: "number", closing: "))" }, 2);
    if (text.startsWith(HERE_STRING, at)) return HERE_STRING.length;
    return this.#heredoc(text, at) ?? this.#parenthesis(text, at);
  }

  #heredoc(text: string, at: number): number | undefined {
    HEREDOC.lastIndex = at;
    const match = HEREDOC.exec(text);
    if (match === null) return undefined;
    const [whole, tabs, single, double, escaped, bare] = match;
    const quoted = single !== undefined || double !== undefined || escaped !== "";
    const { words, word = "" } = this.#plain().command;
    const script = readsScript([...words, word]);
    this.#awaited.push({ end: single ?? double ?? bare ?? "", quoted, tabs: tabs === "-", script });
    return whole.length;
  }

  #parenthesis(text: string, at: number): number {
    const context = this.#top();
    if (text[at] === "(") {
      const isArray = context.kind === "plain" && context.command.word?.endsWith("=") === true;
      return this.#push(plain(")", isArray), 1);
    }
    if (text[at] === ")" && context.kind === "plain" && context.closing === ")") this.#stack.pop();
    return 1;
  }

  #backtick(context: Context): number {
    if (context.kind === "plain" && context.closing === "`") return this.#close(true, 1) ?? 1;
    return this.#push(plain("`"), 1);
  }

  #lineEnds(): void {
    const context = this.#top();
    const line = this.#line;
    this.#line = "";
    if (context.kind === "heredoc" && (context.tabs ? line.replace(/^\t+/, "") : line) === context.end)
      this.#stack.pop();
    if (this.#top().kind === "heredoc") return;
    const next = this.#awaited.shift();
    if (next !== undefined) this.#stack.push({ kind: "heredoc", ...next });
  }

  #push(context: Context, length: number): number {
    this.#stack.push(context);
    return length;
  }

  #close(closes: boolean, length: number): number | undefined {
    if (!closes) return undefined;
    this.#stack.pop();
    return length;
  }

  #until(closes: boolean): number {
    return this.#close(closes, 1) ?? 1;
  }
}

/** A piece outside of quotes that stays there. */
function noteIn(command: Command, piece: string): void {
  const wasContinued = command.continued;
  command.continued = piece === "\\"; // In front of the end of a line, which it takes away.
  if (command.continued || (wasContinued && piece === "\n")) return;
  if (piece === HERE_STRING) {
    endWord(command);
    command.words.push(HERE_STRING);
  } else if (/^<<-?[^<]/.test(piece) || /^[ \t]$/.test(piece)) endWord(command);
  else if (piece === "&" && /[<>]$/.test(command.word ?? "")) command.word += piece;
  else if (/^[;&|)\n]$/.test(piece)) endCommand(command);
  else command.word = `${command.word ?? ""}${piece.length === 2 && piece.startsWith("\\") ? piece.slice(1) : piece}`;
}

/** Another command begins inside of this one: in a word, or in brackets, behind which a new one begins. */
function noteOpening(command: Command, piece: string): void {
  if (piece === "(" && command.word?.endsWith("=") !== true) endCommand(command);
  else command.word = `${command.word ?? ""}${OUTPUT}`;
}

function endWord(command: Command): void {
  if (command.word !== undefined) command.words.push(command.word);
  command.word = undefined;
}

function endCommand(command: Command): void {
  command.words = [];
  command.word = undefined;
}

function executed(where: string): Result<never, Omit<Flaw, "at">> {
  return {
    ok: false,
    error: {
      message: `A value cannot stand in ${where}: a shell may execute what it finds there.`,
      hint: "Give it to a script as an argument: sh -c 'echo \"$1\"' sh ${x}. Numbers can be computed in a `set` step.",
    },
  };
}

const NUMBERS = {
  ok: false,
  error: {
    message: "A value cannot stand in $((…)), $[…], ((…)) or [[…]]: a shell may execute what it finds there.",
    hint: 'Compute it in a `set` step, or compare with [ "${x}" -gt 3 ].',
  },
} as const;

const QUOTED_END = {
  ok: false,
  error: {
    message: "A value cannot stand in a here-document whose end is quoted: the shell inserts nothing there.",
    hint: "Write <<END instead of <<'END', and \\$ for each $ that is to stay.",
  },
} as const;
