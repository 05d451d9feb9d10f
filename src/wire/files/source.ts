// A file that people write, as a tree of values that know their position in it; TOML and YAML are both read into this.
// N1. Every value has a line and a column, counted from 1: whatever is wrong with a file can be pointed at.
// N2. A shape is checked on the plain value; its problems name a path, which leads back to the node and its position.
import type { Json } from "../../base/json.ts";
import { ok, type Result } from "../../base/result.ts";
import type { Path } from "../check.ts";

export type SourcePosition = { readonly line: number; readonly column: number };
export type FileProblem = SourcePosition & { readonly message: string; readonly hint: string };

export type SourceTable = ReadonlyMap<string, SourceNode>;
export type SourceValue = null | boolean | number | string | readonly SourceNode[] | SourceTable;
export type SourceNode = SourcePosition & {
  readonly value: SourceValue;
  /** Where its key is, unless that is its own position. */
  readonly key?: SourcePosition;
  /** Its text in the file and where that begins, if the reader keeps it. */
  readonly source?: string;
  readonly offset?: number;
};

export function isTable(value: SourceValue): value is SourceTable {
  return value instanceof Map;
}

export function isList(value: SourceValue): value is readonly SourceNode[] {
  return Array.isArray(value);
}

/** The value without its positions. */
export function plain({ value }: SourceNode): Json {
  if (isList(value)) return value.map(plain);
  if (isTable(value)) return Object.fromEntries([...value].map(([name, node]) => [name, plain(node)]));
  return value;
}

/** N2. The node at the end of a path; the last one on the way if the path leads further. */
export function nodeAt(root: SourceNode, path: Path): SourceNode {
  let node = root;
  for (const key of path) {
    const inner = memberOf(node.value, key);
    if (inner === undefined) return node;
    node = inner;
  }
  return node;
}

function memberOf(value: SourceValue, key: string | number): SourceNode | undefined {
  if (isTable(value)) return value.get(String(key));
  return isList(value) && typeof key === "number" ? value[key] : undefined;
}

/** Where the key at the end of a path is. */
export function keyAt(root: SourceNode, path: Path): SourcePosition {
  const node = nodeAt(root, path);
  return node.key ?? node;
}

export function byPosition(a: SourcePosition, b: SourcePosition): number {
  return a.line - b.line || a.column - b.column;
}

/** The text of a file that is not longer than people write. */
export function textIn(bytes: Uint8Array, most: number): Result<string, FileProblem> {
  if (bytes.length > most) return unreadable(`The file has ${bytes.length} bytes.`, `At most ${most} are read.`);
  try {
    return ok(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof TypeError) return unreadable("The file is not in UTF-8.", "Save it as UTF-8 text.");
    throw error;
  }
}

export function unreadable(message: string, hint: string): { readonly ok: false; readonly error: FileProblem } {
  return { ok: false, error: { line: 1, column: 1, message, hint } };
}

/** `config.toml:3:1: daemon.heartbeat_ms is "fast". It takes …`, as editors and people follow it. */
export function fileProblemText(path: string, { line, column, message, hint }: FileProblem): string {
  return `${path}:${line}:${column}: ${message} ${hint}`;
}
