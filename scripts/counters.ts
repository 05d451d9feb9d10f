// Counters for programs that run outside the test process, which Bun's coverage does not see.
// C1. Each statement and each arrow's expression is a unit; on its way in it sets its byte to 1. Line numbers stay as
//     they are.
// C2. A line belongs to the innermost unit at its first character: the head of a function to what declares it, its body
//     to itself.
// C3. What only the compiler sees (types, interfaces, imports) belongs to no unit and is not counted as a line.
import { parse } from "@babel/parser";

export const COUNTERS = "__hits";

export type Counted = {
  /** The source with its counters. */
  readonly text: string;
  /** How many bytes the counters need. Byte 0 says that the file was loaded. */
  readonly units: number;
  /** The unit of each line (from 1) that has one. */
  readonly owners: ReadonlyMap<number, number>;
};

type Node = { readonly type: string; readonly start: number; readonly end: number; readonly [key: string]: unknown };
type Span = { readonly start: number; readonly end: number; readonly unit: number };
type Insertion = { readonly at: number; readonly text: string; readonly closes: boolean };

const SILENT = new Set([
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "TSDeclareFunction",
  "ImportDeclaration",
  "EmptyStatement",
]);
/** Hoisted statements: code before them may run after their first use. */
const HOISTED = new Set(["FunctionDeclaration", "ExportAllDeclaration", "ExportNamedDeclaration"]);
/** Where a single statement may stand without braces. */
const BRACELESS = new Set(["consequent", "alternate", "body"]);

/** The counters of this file begin at `first` of those of its process, an array of bytes under a global name. */
export function withCounters(source: string, first = 0): Counted {
  const { program } = parse(source, {
    sourceType: "module",
    plugins: ["typescript", "explicitResourceManagement", "importAttributes"],
  });
  const insertions: Insertion[] = [];
  const spans: Span[] = [];
  let units = 1;
  /** `before` and `after` surround the counter, `closing` follows the counted code. */
  const count = ([start, end]: readonly [number, number], before: string, after: string, closing: string): void => {
    spans.push({ start, end, unit: units });
    insertions.push({ at: start, text: `${before}${COUNTERS}[${first + units++}]=1${after}`, closes: false });
    if (closing !== "") insertions.push({ at: end, text: closing, closes: true });
  };
  const enter = (node: Node, key: string, parent: Node | undefined): void => {
    if (isListed(node, key, parent)) {
      if (!HOISTED.has(node.type)) count([node.start, node.end], "", ";", "");
    } else if (isBare(node, key, parent)) count([node.start, node.end], "{", ";", "}");
    else if (isArrowExpression(node, key, parent)) count(withParentheses(node), "(", ",", ")");
  };
  const visit = (node: Node, key: string, parent: Node | undefined): void => {
    if (isSilent(node)) {
      spans.push({ start: node.start, end: node.end, unit: -1 }); // C3
      return;
    }
    enter(node, key, parent);
    for (const [name, child] of Object.entries(node)) {
      for (const one of [child].flat()) if (isNode(one)) visit(one, name, node);
    }
  };
  visit(program as unknown as Node, "program", undefined);
  return { text: insert(source, insertions), units, owners: ownersOf(source, spans) };
}

function isSilent(node: Node): boolean {
  if (SILENT.has(node.type) || node["declare"] === true) return true;
  if (node.type === "ExportNamedDeclaration") {
    const declared = node["declaration"];
    return node["exportKind"] === "type" || !isNode(declared) || isSilent(declared);
  }
  return node.type === "ExportAllDeclaration";
}

function isStatement(node: Node): boolean {
  return /(?:Statement|Declaration)$/.test(node.type) || node.type === "TSEnumDeclaration";
}

/** A statement in a list of statements: a counter can stand before it. */
function isListed(node: Node, key: string, parent: Node | undefined): boolean {
  const listed = (key === "body" && Array.isArray(parent?.["body"])) || (key === "consequent" && isCase(parent));
  return listed && parent?.type !== "ClassBody" && parent?.type !== "TSInterfaceBody" && isStatement(node);
}

function isCase(parent: Node | undefined): boolean {
  return parent?.type === "SwitchCase";
}

/** The one statement of an `if` or a loop, without braces. */
function isBare(node: Node, key: string, parent: Node | undefined): boolean {
  const holds = parent !== undefined && /^(?:If|For|ForIn|ForOf|While|DoWhile)Statement$/.test(parent.type);
  return holds && BRACELESS.has(key) && isStatement(node) && node.type !== "BlockStatement";
}

function isArrowExpression(node: Node, key: string, parent: Node | undefined): boolean {
  return parent?.type === "ArrowFunctionExpression" && key === "body" && node.type !== "BlockStatement";
}

/** The range of the expression including the parentheses around it, which may keep `{` from being a block. */
function withParentheses(node: Node): readonly [number, number] {
  const extra = node["extra"] as { parenthesized?: boolean; parenStart?: number } | undefined;
  return extra?.parenthesized === true && extra.parenStart !== undefined
    ? [extra.parenStart + 1, node.end]
    : [node.start, node.end];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

/** At the same position closing comes before opening, and inner units close before outer ones. */
function insert(source: string, insertions: readonly Insertion[]): string {
  const ordered = insertions
    .map((one, order) => ({ ...one, order }))
    .sort(
      (a, b) =>
        a.at - b.at || Number(b.closes) - Number(a.closes) || (a.closes ? b.order - a.order : a.order - b.order),
    );
  let text = "";
  let from = 0;
  for (const { at, text: added } of ordered) {
    text += source.slice(from, at) + added;
    from = at;
  }
  return text + source.slice(from);
}

/** C2: later spans lie within earlier ones, so the last that holds a place is the innermost. */
function ownersOf(source: string, spans: readonly Span[]): Map<number, number> {
  const owners = new Map<number, number>();
  let start = 0;
  source.split("\n").forEach((line, index) => {
    const first = start + line.search(/\S/);
    const bare = line.trim();
    start += line.length + 1;
    if (bare === "" || bare.startsWith("//") || bare.startsWith("*") || bare.startsWith("/*")) return;
    const owner = spans.findLast((span) => span.start <= first && first < span.end)?.unit ?? 0;
    if (owner >= 0) owners.set(index + 1, owner);
  });
  return owners;
}
