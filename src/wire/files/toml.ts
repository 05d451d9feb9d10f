// TOML with the position of every value, which Bun's own parser does not give (docs/decisions/0007).
// Y1. Every value and every problem has its line and column, counted from 1.
// Y2. The values are those of Bun.TOML.parse (a test compares them); dates and [[arrays of tables]] are refused.
// Y3. A key is defined once, and a table is opened once: what would silently replace an earlier line is a problem.
import { ok, type Result } from "../../base/result.ts";
import { isTable, type SourceNode, type SourcePosition, type SourceTable, type SourceValue } from "./source.ts";
import { Misplaced, TomlText } from "./toml-text.ts";

export type Misread = SourcePosition & { readonly message: string };

/** How a table came to be decides what may be added to it later. */
type Growing = {
  readonly table: Map<string, SourceNode>;
  made: "by a header" | "on the way to one" | "by a dotted key";
};

/** Deeper than any setting; a file of a million brackets must not exhaust the stack. */
const MAX_DEPTH = 32;

export function readToml(text: string): Result<SourceTable, Misread> {
  try {
    return ok(new TomlReader(text).read());
  } catch (error) {
    if (!(error instanceof Misplaced)) throw error;
    return { ok: false, error: { ...placeOf(linesOf(text), error.index), message: error.message } };
  }
}

/** Where each line begins. */
function linesOf(text: string): readonly number[] {
  return [0, ...text.matchAll(/\n/g).map(({ index }) => index + 1)];
}

/** Y1. Every value has a place: it is found by halving, because the file may be long. */
function placeOf(lines: readonly number[], index: number): SourcePosition {
  let [line, after] = [0, lines.length];
  while (after - line > 1) {
    const half = (line + after) >> 1;
    if ((lines[half] ?? 0) <= index) line = half;
    else after = half;
  }
  return { line: line + 1, column: index - (lines[line] ?? 0) + 1 };
}

class TomlReader {
  readonly #text: TomlText;
  readonly #lines: readonly number[];
  readonly #root: Growing = { table: new Map(), made: "by a header" };
  /** Only these may be added to: a table written inline is closed. */
  readonly #open = new Map<SourceValue, Growing>();
  #depth = 0;

  constructor(text: string) {
    this.#text = new TomlText(text);
    this.#lines = linesOf(text);
  }

  read(): SourceTable {
    let current = this.#root;
    for (this.#text.gap(); !this.#text.isAtEnd; this.#text.gap()) {
      if (this.#text.take("[")) current = this.#header();
      else this.#pair(current, "a value");
    }
    return this.#root.table;
  }

  #header(): Growing {
    if (this.#text.take("[")) this.#text.fail("no setting uses [[…]]; write [name]", this.#text.at - 2);
    this.#text.blanks();
    const start = this.#text.at;
    const names = this.#text.key();
    if (!this.#text.take("]")) this.#text.fail(`expected "]" but found ${this.#text.here()}`);
    this.#text.endOfLine("a [table]");
    if (names.length > MAX_DEPTH) this.#text.fail("too many dots in one key", start);
    const last = names.pop() ?? "";
    const parent = names.reduce((table, name) => this.#step(table, name, start, "on the way to one"), this.#root);
    const table = this.#step(parent, last, start, "on the way to one");
    const isOpened = table.made !== "on the way to one";
    if (isOpened) this.#text.fail(`[${[...names, last].join(".")}] is there already`, start); // Y3
    table.made = "by a header";
    return table;
  }

  /** The table of that name inside `parent`; it is made if it is missing. */
  #step(parent: Growing, name: string, start: number, made: Growing["made"]): Growing {
    const found = parent.table.get(name);
    if (found === undefined) {
      const table: Growing = { table: new Map(), made };
      parent.table.set(name, { ...this.#place(start), value: table.table });
      this.#open.set(table.table, table);
      return table;
    }
    const { value, line } = found;
    return this.#open.get(value) ?? this.#text.fail(`${name} has a value already: line ${line}`, start); // Y3
  }

  /** `key = value`, with the end of its line unless it is inside an inline table. */
  #pair(into: Growing, what: "a value" | "an inline value"): void {
    const start = this.#text.at;
    const names = this.#text.key();
    if (!this.#text.take("=")) this.#text.fail(`expected "=" after the key but found ${this.#text.here()}`);
    this.#text.blanks();
    if (names.length > MAX_DEPTH) this.#text.fail("too many dots in one key", start);
    const last = names.pop() ?? "";
    const table = names.reduce((parent, name) => this.#dotted(parent, name, start), into);
    const value = this.#value();
    const earlier = table.table.get(last);
    if (earlier !== undefined) this.#text.fail(`${last} is there already: line ${earlier.line}`, start); // Y3
    table.table.set(last, { ...this.#place(start), value });
    if (what === "a value") this.#text.endOfLine(what);
  }

  #dotted(parent: Growing, name: string, start: number): Growing {
    const table = this.#step(parent, name, start, "by a dotted key");
    if (table.made !== "by a dotted key") this.#text.fail(`[${name}] is there already`, start); // Y3
    return table;
  }

  #value(): SourceValue {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.#text.fail("too many brackets within each other");
    const value = this.#bracketed() ?? this.#text.scalar();
    this.#depth -= 1;
    return value;
  }

  #bracketed(): SourceValue | undefined {
    if (this.#text.take("[")) return this.#list();
    return this.#text.take("{") ? this.#inlineTable() : undefined;
  }

  #list(): SourceNode[] {
    const items: SourceNode[] = [];
    this.#each("]", () => {
      const place = this.#place(this.#text.at);
      items.push({ ...place, value: this.#value() });
    });
    return items;
  }

  #inlineTable(): SourceTable {
    const table: Growing = { table: new Map(), made: "by a dotted key" };
    this.#each("}", () => this.#pair(table, "an inline value"));
    this.#close(table.table); // Nothing may be added to it, nor to the tables that its dotted keys made.
    return table.table;
  }

  #close(table: SourceTable): void {
    for (const { value } of table.values()) if (this.#open.delete(value) && isTable(value)) this.#close(value);
  }

  /** Items with commas between them; a last comma is allowed. */
  #each(end: string, item: () => void): void {
    for (this.#text.gap(); !this.#text.take(end); this.#text.gap()) {
      item();
      this.#text.gap();
      if (this.#text.take(",")) continue;
      if (this.#text.take(end)) return;
      this.#text.fail(`expected "," or "${end}" but found ${this.#text.here()}`);
    }
  }

  #place(index: number): SourcePosition {
    return placeOf(this.#lines, index);
  }
}
