// The language of `when`, `until`, `filter` and `${…}`: values, names, members, comparisons, sums, and a few functions.
// X1. It is read-only: no expression changes anything, calls the world, or runs longer than its length.
// X2. Positions of errors are offsets into the given text, so that a file's line and column can be reported.
// X3. In an expression `${…}` is the same as parentheses: `when: ${count} > 3` and `when: count > 3` mean the same.

import type { Json } from "../../base/json.ts";
import { memo } from "../../base/memo.ts";
import { own } from "../../base/own.ts";
import { ok, type Result } from "../../base/result.ts";

export type Operator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||" | "+" | "-" | "*" | "/" | "%";

export type Expression =
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "name"; readonly name: string; readonly at: number }
  | { readonly kind: "member"; readonly of: Expression; readonly name: string }
  | { readonly kind: "index"; readonly of: Expression; readonly by: Expression }
  | { readonly kind: "not"; readonly of: Expression }
  | { readonly kind: "minus"; readonly of: Expression }
  | { readonly kind: "both"; readonly operator: Operator; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Expression[]; readonly at: number };

/** The position in the text, and what is wrong there. */
export type Flaw = { readonly at: number; readonly message: string; readonly hint: string };

/** How many arguments each function takes. */
export const FUNCTIONS: Readonly<Record<string, number>> = {
  len: 1,
  defined: 1,
  default: 2,
  contains: 2,
  starts_with: 2,
  ends_with: 2,
  lower: 1,
  upper: 1,
  trim: 1,
  number: 1,
  text: 1,
  json: 1,
  file: 1,
};

/** From loosest to tightest. */
const LEVELS: readonly (readonly Operator[])[] = [
  ["||"],
  ["&&"],
  ["==", "!=", "<=", ">=", "<", ">"],
  ["+", "-"],
  ["*", "/", "%"],
];

/** Deeper than any real expression, and far from the end of the stack. */
const DEEPEST = 64;

const NUMBER = /\d+(?:\.\d+)?/y;
const NAME = /[A-Za-z_]\w*/y;
const TEXT = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/y;
const SPACE = /\s*/y;

class Stop extends Error {
  readonly flaw: Flaw;

  constructor(flaw: Flaw) {
    super(flaw.message);
    this.flaw = flaw;
  }
}

/** Parses a whole text as an expression. */
export const parseExpression: (text: string) => Result<Expression, Flaw> = memo((text) =>
  reading(() => {
    const reader = new Reader(text, 0);
    const found = reader.expression(0);
    if (!reader.ended()) reader.fail("There is text after the expression");
    return found;
  }),
);

/** Parses the content of `${…}`, from just after the `{`; `end` is just after the `}`. */
export function parseInBraces(text: string, from: number): Result<{ expression: Expression; end: number }, Flaw> {
  return reading(() => {
    const reader = new Reader(text, from);
    const expression = reader.expression(0);
    reader.take("}", "The } that closes ${ is missing");
    return { expression, end: reader.at };
  });
}

function reading<T>(read: () => T): Result<T, Flaw> {
  try {
    return ok(read());
  } catch (error) {
    if (error instanceof Stop) return { ok: false, error: error.flaw };
    throw error;
  }
}

class Reader {
  readonly text: string;
  at: number;
  #depth = 0;

  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }

  ended(): boolean {
    this.#match(SPACE);
    return this.at >= this.text.length;
  }

  expression(level: number): Expression {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary();
    let left = this.expression(level + 1);
    for (;;) {
      const operator = operators.find((one) => this.#skip(one));
      if (operator === undefined) return left;
      left = { kind: "both", operator, left, right: this.expression(level + 1) };
    }
  }

  #unary(): Expression {
    this.#depth += 1;
    if (this.#depth > DEEPEST) this.fail("This is nested too deeply");
    const found = this.#skip("!")
      ? ({ kind: "not", of: this.#unary() } as const)
      : this.#skip("-")
        ? ({ kind: "minus", of: this.#unary() } as const)
        : this.#members(this.#primary());
    this.#depth -= 1;
    return found;
  }

  #members(first: Expression): Expression {
    let of = first;
    for (;;) {
      if (this.#skip(".")) of = { kind: "member", of, name: this.#word() };
      else if (this.#skip("[")) {
        of = { kind: "index", of, by: this.expression(0) };
        this.take("]", "The ] is missing");
      } else return of;
    }
  }

  #primary(): Expression {
    if (this.#skip("${")) return this.#inside("}");
    if (this.#skip("(")) return this.#inside(")");
    this.#match(SPACE);
    const number = this.#match(NUMBER);
    if (number !== undefined) return { kind: "value", value: Number(number[0]) };
    const text = this.#match(TEXT);
    if (text !== undefined) return { kind: "value", value: unescaped(text[1] ?? text[2] ?? "") };
    const at = this.at;
    const name = this.#word();
    if (this.#skip("(")) return this.#call(name, at);
    if (name === "true" || name === "false") return { kind: "value", value: name === "true" };
    return name === "null" ? { kind: "value", value: null } : { kind: "name", name, at };
  }

  #inside(closing: string): Expression {
    const found = this.expression(0);
    this.take(closing, `The ${closing} is missing`);
    return found;
  }

  #call(name: string, at: number): Expression {
    const args: Expression[] = [];
    while (!this.#skip(")")) {
      if (args.length > 0) this.take(",", "A comma is missing");
      args.push(this.expression(0));
    }
    const wanted = own(FUNCTIONS, name);
    const known = Object.keys(FUNCTIONS).join(", ");
    if (wanted === undefined)
      throw new Stop({ at, message: `There is no function ${name}.`, hint: `The functions are: ${known}.` });
    if (wanted !== args.length) {
      const message = `${name} takes ${wanted}, but ${args.length} ${args.length === 1 ? "is" : "are"} given.`;
      throw new Stop({ at, message, hint: "Give exactly that many." });
    }
    return { kind: "call", name, args, at };
  }

  #word(): string {
    this.#match(SPACE);
    const name = this.#match(NAME);
    if (name === undefined) this.fail("A name or a value is missing");
    return name[0];
  }

  take(token: string, message: string): void {
    if (!this.#skip(token)) this.fail(message);
  }

  /** `<` is not the beginning of `<=`: the longer ones are tried first (LEVELS). */
  #skip(token: string): boolean {
    SPACE.lastIndex = this.at;
    const from = this.at + (SPACE.exec(this.text)?.[0].length ?? 0);
    if (!this.text.startsWith(token, from)) return false;
    this.at = from + token.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) return undefined;
    this.at += match[0].length;
    return match;
  }

  fail(message: string): never {
    this.#match(SPACE);
    const found = this.text.slice(this.at, this.at + 12);
    throw new Stop({
      at: this.at,
      message: `${message}${found === "" ? " at the end" : `, before ${JSON.stringify(found)}`}.`,
      hint: HINT,
    });
  }
}

const HINT = "An expression looks like: count > 3 && status == 'ready'. For a shell's own ${…}, write $${…}.";

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, character: string) =>
    character === "n" ? "\n" : character === "t" ? "\t" : character,
  );
}

/** The names that an expression looks up or checks, and where. */
export function namesIn(expression: Expression): { readonly name: string; readonly at: number }[] {
  if (expression.kind === "name") return [expression];
  if (expression.kind === "value") return [];
  if (expression.kind === "both") return [...namesIn(expression.left), ...namesIn(expression.right)];
  if (expression.kind === "index") return [...namesIn(expression.of), ...namesIn(expression.by)];
  if (expression.kind === "call") return expression.args.flatMap(namesIn);
  return namesIn(expression.of);
}
