// The text of a TOML file under a cursor: blanks, keys, strings and the other single values.
// X1. Whatever does not fit throws a `Misplaced` with its index; readToml turns that into line and column.
// X2. The grammar is TOML 1.0 with what 1.1 adds to strings (\e, \xHH); dates are refused, because no setting is one.

export class Misplaced extends Error {
  override readonly name = "Misplaced";
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

const BLANKS = /[ \t]*/y;
const COMMENT = /#[^\n\r]*/y;
const NEWLINE = /\r?\n/y;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
const DATE = /\d{4}-\d{2}-\d{2}|\d{2}:\d{2}/y;
const WORD = /[^\s,\]}#=]+/y;
const FLOAT = /^[+-]?(?:(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?|inf|nan)$/;
const PREFIXED = /^0(?:x[\da-fA-F](?:_?[\da-fA-F])*|o[0-7](?:_?[0-7])*|b[01](?:_?[01])*)$/;
/** Part of a string without special characters: tabs, non-ASCII and printable characters except quote and backslash. */
const PLAIN = /[\t\P{ASCII} !#-[\]-~]+/uy;
const PLAIN_LITERAL = /[\t\P{ASCII} -&(-~]+/uy;
const ESCAPE = /\\(?:([btnfre"\\])|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/y;
const FOLDED_LINES = /\\[ \t]*\r?\n\s*/y;
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\u001b",
  '"': '"',
  "\\": "\\",
};

export class TomlText {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
    this.take("\ufeff");
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  fail(message: string, at = this.at): never {
    throw new Misplaced(at, message); // X1
  }

  take(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text) ?? undefined;
    if (found !== undefined) this.at = pattern.lastIndex;
    return found;
  }

  blanks(): void {
    this.match(BLANKS);
  }

  /** Blanks, comments and ends of lines. */
  gap(): void {
    do {
      this.blanks();
      this.match(COMMENT);
    } while (this.match(NEWLINE) !== undefined);
  }

  endOfLine(after: string): void {
    this.blanks();
    this.match(COMMENT);
    if (!this.isAtEnd && this.match(NEWLINE) === undefined) this.fail(`expected the end of the line after ${after}`);
  }

  /** What comes next, for a message. */
  here(): string {
    if (this.isAtEnd) return "the end of the file";
    const next = this.text[this.at] ?? "";
    return next === "\n" || next === "\r" ? "the end of the line" : JSON.stringify(next);
  }

  /** `a`, `"a b"`, or several with dots between them. */
  key(): string[] {
    const names = [this.#name()];
    for (this.blanks(); this.take("."); this.blanks()) {
      this.blanks();
      names.push(this.#name());
    }
    return names;
  }

  #name(): string {
    if (this.take('"')) return this.#quoted(false);
    if (this.take("'")) return this.#literal(false);
    return this.match(BARE_KEY)?.[0] ?? this.fail(`expected a key but found ${this.here()}`);
  }

  scalar(): string | number | boolean {
    if (this.take('"""')) return this.#quoted(true);
    if (this.take('"')) return this.#quoted(false);
    if (this.take("'''")) return this.#literal(true);
    if (this.take("'")) return this.#literal(false);
    const start = this.at;
    if (this.match(DATE) !== undefined) this.fail("no setting takes a date or a time", start); // X2
    const word = this.match(WORD)?.[0] ?? this.fail(`expected a value but found ${this.here()}`);
    if (word === "true" || word === "false") return word === "true";
    return numberIn(word) ?? this.fail(`${word} is not a value; texts are written in quotes`, start);
  }

  #quoted(long: boolean): string {
    const start = this.at;
    let found = "";
    if (long) this.match(NEWLINE); // A line break right after the quotes is not part of it.
    for (;;) {
      found += this.match(PLAIN)?.[0] ?? "";
      if (this.#closes('"', long)) return found + this.#extraQuotes('"', long);
      if (long && this.match(FOLDED_LINES) !== undefined) continue;
      if (this.text[this.at] === "\\") found += this.#escape();
      else found += this.#insideLong('"', long, start);
    }
  }

  #literal(long: boolean): string {
    const start = this.at;
    let found = "";
    if (long) this.match(NEWLINE); // A line break right after the quotes is not part of it.
    for (;;) {
      found += this.match(PLAIN_LITERAL)?.[0] ?? "";
      if (this.#closes("'", long)) return found + this.#extraQuotes("'", long);
      found += this.#insideLong("'", long, start);
    }
  }

  #closes(quote: string, long: boolean): boolean {
    return this.take(long ? quote.repeat(3) : quote);
  }

  /** A long string may end in one or two quotes of its own: `""""a""""` is `"a"`. */
  #extraQuotes(quote: string, long: boolean): string {
    let found = "";
    while (long && found.length < 2 && this.take(quote)) found += quote;
    return found;
  }

  /** An end of line or a quote within a long string; in a short one either means that it was never closed. */
  #insideLong(quote: string, long: boolean, start: number): string {
    const newline = long ? this.match(NEWLINE) : undefined;
    if (newline !== undefined) return "\n";
    if (long && this.take(quote)) return quote;
    if (this.isAtEnd || /[\r\n]/.test(this.text[this.at] ?? "")) this.fail("this string is not closed", start - 1);
    return this.fail("a string may not contain a control character; write it as \\u0000");
  }

  #escape(): string {
    const found = this.match(ESCAPE);
    if (found === undefined)
      return this.fail(`\\${this.text[this.at + 1] ?? ""} is not an escape; a backslash is \\\\`);
    const [, short, ...hex] = found;
    if (short !== undefined) return SHORT_ESCAPES[short] ?? "";
    const point = Number.parseInt(hex.find((digits) => digits !== undefined) ?? "", 16);
    const valid = point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
    return valid
      ? String.fromCodePoint(point)
      : this.fail("this is not a Unicode character", this.at - found[0].length);
  }
}

function numberIn(word: string): number | undefined {
  const bare = word.replaceAll("_", "");
  if (PREFIXED.test(word)) return Number(bare);
  if (!FLOAT.test(word)) return undefined;
  if (word.endsWith("inf")) return word.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(bare); // `nan` becomes NaN.
}
