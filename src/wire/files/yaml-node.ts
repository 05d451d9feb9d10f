// YAML as a tree of values, each with its place in the file.
// Y1. Every value has a line and a column: what is wrong with a file can always be pointed at.
// Y2. Nothing grows: an alias stands for what it names, and a tree that is larger than its limit is refused, not built.
// Y3. It is the core of YAML 1.2: `no` is a text, keys are texts and unique, and there are no tags.
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { Json } from "../../base/json.ts";
import { ok, type Result } from "../../base/result.ts";

export type SourcePosition = { readonly line: number; readonly column: number };
export type YamlProblem = SourcePosition & { readonly message: string; readonly hint: string };

export type YamlNode = SourcePosition & {
  readonly value: null | boolean | number | string | readonly YamlNode[] | YamlMap;
  /** Its text in the file, and where that begins. */
  readonly source: string;
  readonly offset: number;
};
export type YamlMap = ReadonlyMap<string, { readonly key: SourcePosition; readonly node: YamlNode }>;

/** A workflow of ten thousand steps has a hundred thousand values, its keys included. */
const MAX_NODES = 300_000;
const DEEPEST = 64;

export function isYamlMap(value: YamlNode["value"]): value is YamlMap {
  return value instanceof Map;
}

export function isYamlList(value: YamlNode["value"]): value is readonly YamlNode[] {
  return Array.isArray(value);
}

export type YamlText = { readonly root: YamlNode; placeAt(offset: number): SourcePosition };

export function readYaml(text: string): Result<YamlText, YamlProblem[]> {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: true });
  const placeAt = (offset: number): SourcePosition => {
    const { line, col } = counter.linePos(offset);
    return { line, column: col };
  };
  const [tag] = document.warnings;
  if (tag !== undefined && document.errors.length === 0) {
    // `when: !defined(x)` would be the value `(x)` with a tag, and mean something else.
    const message = "What begins with ! is a tag to YAML, and there are none here.";
    return { ok: false, error: [{ ...placeAt(tag.pos[0]), message, hint: "Put the whole text into quotes." }] }; // Y3
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
  return `This is no YAML: ${message.replace(/\.?$/, ".")}`;
}

class Tree {
  readonly problems: YamlProblem[] = [];
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

  node(found: Node | null | undefined, depth: number): YamlNode {
    const [from, to] = found?.range ?? [0, 0];
    const place = { ...this.#placeAt(from), offset: from, source: this.#text.slice(from, to) };
    this.#left -= 1;
    if (depth > DEEPEST || this.#left < 0)
      return this.#wrong(place, "The file is too large or too deep.", "Make it smaller."); // Y2
    if (isAlias(found)) {
      if (!this.#named.has(found)) this.#named.set(found, found.resolve(this.#document));
      const target = this.#named.get(found);
      if (target === undefined) return this.#wrong(place, "There is no such anchor.", "Name one before.");
      return this.node(target, depth + 1);
    }
    if (isMap(found)) return { ...place, value: this.#map(found.items, depth) };
    if (isSeq(found)) return { ...place, value: found.items.map((item) => this.node(item as Node, depth + 1)) };
    return { ...place, value: this.#scalar(found, place) };
  }

  #map(items: readonly { readonly key: unknown; readonly value: unknown }[], depth: number): YamlMap {
    const map = new Map<string, { key: SourcePosition; node: YamlNode }>();
    for (const { key, value } of items) {
      const named = this.node(key as Node, depth + 1);
      const node = this.node((value ?? key) as Node, depth + 1);
      if (typeof named.value !== "string") this.#wrong(named, "A key is a text.", "Put it into quotes.");
      else map.set(named.value, { key: named, node: value === null ? { ...node, value: null } : node });
    }
    return map;
  }

  #scalar(
    found: Node | null | undefined,
    place: YamlNode | (SourcePosition & Omit<YamlNode, "value">),
  ): YamlNode["value"] {
    if (!isScalar(found)) return null;
    const { value } = found;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    this.#wrong(
      place,
      "This is neither a text, a number, true, false nor null.",
      "Put it into quotes to make it a text.",
    );
    return null;
  }

  #wrong(place: SourcePosition & Omit<YamlNode, "value">, message: string, hint: string): YamlNode {
    this.problems.push({ line: place.line, column: place.column, message, hint });
    return { ...place, value: null };
  }
}

/** The value without its places. */
export function plain({ value }: YamlNode): Json {
  if (isYamlList(value)) return value.map(plain);
  if (isYamlMap(value)) return Object.fromEntries([...value].map(([name, { node }]) => [name, plain(node)]));
  return value;
}
