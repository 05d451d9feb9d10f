// Vector: an immutable list. Adding or replacing returns a new one that shares all but one branch with the old one.
// V1. A vector never changes: code that kept one (a turn that may be undone) still has the same items.
// V2. `push` and `replace` cost the same for the ten-thousandth item as for the first, apart from the depth of the tree
//     (32 children a level).
import { assert } from "./assert.ts";

const BITS = 5;
const WIDTH = 1 << BITS;
const MASK = WIDTH - 1;

type Branch<T> = { readonly kind: "branch"; readonly children: readonly Node<T>[] };
type Leaf<T> = { readonly kind: "leaf"; readonly values: readonly T[] };
type Node<T> = Branch<T> | Leaf<T>;

export type Vector<T> = { readonly length: number; readonly shift: number; readonly root: Node<T> };

export function vectorOf<T>(values: Iterable<T> = []): Vector<T> {
  let level: Node<T>[] = [];
  let length = 0;
  let values32: T[] = [];
  for (const value of values) {
    if (values32.length === WIDTH) {
      level.push({ kind: "leaf", values: values32 });
      values32 = [];
    }
    values32.push(value);
    length += 1;
  }
  level.push({ kind: "leaf", values: values32 });
  let shift = 0;
  for (; level.length > 1; shift += BITS) level = grouped(level);
  const [root] = level;
  assert(root !== undefined, "a vector has a root");
  return { length, shift, root };
}

function grouped<T>(nodes: readonly Node<T>[]): Node<T>[] {
  const parents: Node<T>[] = [];
  for (let at = 0; at < nodes.length; at += WIDTH)
    parents.push({ kind: "branch", children: nodes.slice(at, at + WIDTH) });
  return parents;
}

export function itemAt<T>({ length, shift, root }: Vector<T>, index: number): T | undefined {
  if (index < 0 || index >= length) return undefined;
  let node: Node<T> | undefined = root;
  for (let level = shift; node?.kind === "branch"; level -= BITS) node = node.children[(index >> level) & MASK];
  return node?.values[index & MASK];
}

export function push<T>(vector: Vector<T>, value: T): Vector<T> {
  const { length, shift, root } = vector;
  if (length < WIDTH << shift) return { length: length + 1, shift, root: put(root, shift, length, value) };
  const taller: Node<T> = { kind: "branch", children: [root] };
  return { length: length + 1, shift: shift + BITS, root: put(taller, shift + BITS, length, value) };
}

export function replace<T>(vector: Vector<T>, index: number, value: T): Vector<T> {
  assert(index >= 0 && index < vector.length, `a replaced item exists: ${index} of ${vector.length}`);
  return { ...vector, root: put(vector.root, vector.shift, index, value) };
}

function put<T>(node: Node<T> | undefined, level: number, index: number, value: T): Node<T> {
  const at = (index >> level) & MASK;
  if (level === 0) {
    const values = node?.kind === "leaf" ? [...node.values] : [];
    values[at] = value;
    return { kind: "leaf", values };
  }
  const children = node?.kind === "branch" ? [...node.children] : [];
  children[at] = put(children[at], level - BITS, index, value);
  return { kind: "branch", children };
}

/** All items, as a plain list: nested generators took most of the time of a long run's checkpoint. */
export function itemsOf<T>({ root }: Vector<T>): readonly T[] {
  const found: T[] = [];
  gather(root, found);
  return found;
}

function gather<T>(node: Node<T>, found: T[]): void {
  if (node.kind === "leaf") for (const value of node.values) found.push(value);
  else for (const child of node.children) gather(child, found);
}
