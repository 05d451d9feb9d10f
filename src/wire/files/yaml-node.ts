// YAML as a tree of values with positions (source.ts).
// Y1. Nothing grows: an alias stands for what it names, and a tree that is larger than its limit is refused, not built.
// Y2. It is the core of YAML 1.2: `no` is a text, keys are texts and unique, and there are no tags.
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { ok, type Result } from "../../base/result.ts";
import type { FileProblem, SourceNode, SourcePosition, SourceTable, SourceValue } from "./source.ts";

/** A workflow of ten thousand steps has a hundred thousand values, its keys included. */
const MAX_NODES = 300_000;
const MAX_DEPTH = 64;

/** A file's tree, and the position of each of its characters. */
export type YamlText = { readonly root: SourceNode; placeAt(offset: number): SourcePosition };

export function readYaml(text: string): Result<YamlText, FileProblem[]> {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: true });
  const placeAt = (offset: number): SourcePosition => {
    const { line, col } = counter.linePos(offset);
    return { line, column: col };
  };
  const [tag] = document.warnings;
  if (tag !== undefined && document.errors.length === 0) {
    // `when: !defined(x)` would be the value `(x)` with a tag, and mean something else.
    const message = "What begins with ! is a tag in YAML, and there are no tags here.";
    return { ok: false, error: [{ ...placeAt(tag.pos[0]), message, hint: "Put the whole text into quotes." }] }; // Y2
  }
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ pos: [at], message }) => ({
      ...placeAt(at),
      message: sentence(message),
      hint: SYNTAX,
    }));
    return { ok: false, error: problems };
  }
  const tree = new Tree(text, document, placeAt);
  const root = tree.node(document.contents, 0);
  return tree.problems.length > 0 ? { ok: false, error: tree.problems } : ok({ root, placeAt });
}

const SYNTAX = "Compare with the examples in docs/WORKFLOWS.md; most often it is the indentation or a missing quote.";

function sentence(message: string): string {
  return `Not valid YAML: ${message.replace(/\.?$/, ".")}`;
}

class Tree {
  readonly problems: FileProblem[] = [];
  readonly #text: string;
  readonly #document: Document;
  readonly #placeAt: (offset: number) => SourcePosition;
  /** To find what an alias names, the whole document is walked: done once for each. */
  readonly #named = new Map<Node, Node | undefined>();
  #left = MAX_NODES;

  constructor(text: string, document: Document, placeAt: (offset: number) => SourcePosition) {
    this.#text = text;
    this.#document = document;
    this.#placeAt = placeAt;
  }

  node(found: Node | null | undefined, depth: number): SourceNode {
    const [from, to] = found?.range ?? [0, 0];
    const place = { ...this.#placeAt(from), offset: from, source: this.#text.slice(from, to) };
    this.#left -= 1;
    if (depth > MAX_DEPTH || this.#left < 0)
      return this.#wrong(place, "The file is too large or too deep.", "Make it smaller."); // Y1
    if (isAlias(found)) {
      if (!this.#named.has(found)) this.#named.set(found, found.resolve(this.#document));
      const target = this.#named.get(found);
      if (target === undefined) return this.#wrong(place, "No anchor has this name.", "Name one before.");
      return this.node(target, depth + 1);
    }
    if (isMap(found)) return { ...place, value: this.#map(found.items, depth) };
    if (isSeq(found)) return { ...place, value: found.items.map((item) => this.node(item as Node, depth + 1)) };
    return { ...place, value: this.#scalar(found, place) };
  }

  #map(items: readonly { readonly key: unknown; readonly value: unknown }[], depth: number): SourceTable {
    const map = new Map<string, SourceNode>();
    for (const item of items) {
      const key = this.node(item.key as Node, depth + 1);
      const node = this.node((item.value ?? item.key) as Node, depth + 1);
      if (typeof key.value !== "string") this.#wrong(key, "A key is a text.", "Put it into quotes.");
      else map.set(key.value, { ...node, key, ...(item.value === null && { value: null }) });
    }
    return map;
  }

  #scalar(found: Node | null | undefined, position: SourcePosition): SourceValue {
    if (!isScalar(found)) return null;
    const { value } = found;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    const hint = "Put it into quotes to make it a text.";
    this.#wrong(position, "This is neither a text, a number, true, false nor null.", hint);
    return null;
  }

  #wrong({ line, column, ...rest }: SourcePosition, message: string, hint: string): SourceNode {
    this.problems.push({ line, column, message, hint });
    return { ...rest, line, column, value: null };
  }
}
