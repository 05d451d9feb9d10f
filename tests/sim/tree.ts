// The simulated disk's inodes and how paths lead to them. Knows nothing of faults, handles or crashes.
// T1. Paths are absolute and are resolved through the cached side, which is what processes see.
// T2. `fork` costs a copy of the table; nodes are shared until one side changes them (I3).
import { assert } from "../../src/base/assert.ts";
import { Fault } from "../../src/base/fault.ts";
import {
  applyEntryOp,
  cloneDirectory,
  cloneFile,
  type Directory,
  type EntryChange,
  type EntryOp,
  type Epoch,
  type Inode,
  type Node,
  newDirectory,
  newFile,
  type PendingOp,
} from "./inode.ts";

export const ROOT = 1;

export type Missing = "ENOENT" | "ENOTDIR";
/** A place for a name: its directory, the name, and its current content. */
export type Slot = { readonly directory: number; readonly name: string; readonly id: number | undefined };

export class Tree {
  lastSeq = 0;
  private lastId = ROOT;
  private epoch: Epoch = { epoch: true };
  private nodes = new Map<number, Node>();

  constructor() {
    this.nodes.set(ROOT, newDirectory(this.epoch));
  }

  fork(): Tree {
    this.epoch = { epoch: true }; // I3: from now on neither side owns what both see
    return this.successor(new Map(this.nodes), { epoch: true });
  }

  get size(): number {
    return this.nodes.size;
  }

  node(id: number): Node {
    const node = this.nodes.get(id);
    assert(node !== undefined, "an inode that is asked for is on the simulated disk");
    return node;
  }

  file(id: number): Inode {
    const node = this.node(id);
    assert(node.kind === "file", "the inode is a file");
    return node;
  }

  directory(id: number): Directory {
    const node = this.node(id);
    assert(node.kind === "directory", "the inode is a directory");
    return node;
  }

  ownFile(id: number): Inode {
    const node = this.file(id);
    if (node.epoch === this.epoch) return node;
    const mine = cloneFile(this.epoch, node);
    this.nodes.set(id, mine);
    return mine;
  }

  ownDirectory(id: number): Directory {
    const node = this.directory(id);
    if (node.epoch === this.epoch) return node;
    const mine = cloneDirectory(this.epoch, node);
    this.nodes.set(id, mine);
    return mine;
  }

  own(id: number): Node {
    return this.node(id).kind === "file" ? this.ownFile(id) : this.ownDirectory(id);
  }

  add(kind: Node["kind"]): number {
    this.lastId += 1;
    this.nodes.set(this.lastId, kind === "file" ? newFile(this.epoch) : newDirectory(this.epoch));
    return this.lastId;
  }

  lookup(path: string): number | Missing {
    let id = ROOT;
    for (const name of namesIn(path)) {
      const directory = this.node(id);
      if (directory.kind !== "directory") return "ENOTDIR";
      const next = directory.cache.get(name);
      if (next === undefined) return "ENOENT";
      id = next;
    }
    return id;
  }

  /** Where `path` is or could be; a Fault (that names `about`) if its directory is missing or is not a directory. */
  slot(operation: string, path: string, about = path): Slot {
    const cut = path.lastIndexOf("/");
    const directory = this.lookup(path.slice(0, cut) || "/");
    if (typeof directory === "string") throw new Fault({ code: directory, operation, path: about });
    const parent = this.node(directory);
    if (parent.kind !== "directory") throw new Fault({ code: "ENOTDIR", operation, path: about });
    const name = path.slice(cut + 1);
    assert(name !== "" && name !== "..", "a path ends in a name");
    return { directory, name, id: parent.cache.get(name) };
  }

  change(directory: number, path: string, changes: readonly EntryChange[]): void {
    const node = this.ownDirectory(directory);
    this.lastSeq += 1;
    const op: EntryOp = { kind: "entries", seq: this.lastSeq, path, changes };
    applyEntryOp(node.cache, op);
    node.pending.push(op);
  }

  /** Every node that a name leads to, now, durably, or through a pending operation. */
  reachable(): Map<number, Node> {
    const found = new Map<number, Node>();
    const visit = (id: number): void => {
      if (found.has(id)) return;
      const node = this.node(id);
      found.set(id, node);
      if (node.kind === "directory") for (const child of children(node)) visit(child);
    };
    visit(ROOT);
    return found;
  }

  /** In the order of issue; changes to files that no name can reach any more are left out. */
  pending(): PendingOp[] {
    const ops: PendingOp[] = [];
    for (const node of this.reachable().values()) for (const op of node.pending) ops.push(op);
    return ops.sort((a, b) => a.seq - b.seq);
  }

  /** Bytes set aside for files that have a name now or are held open. */
  used(open: Iterable<number>): number {
    const ids = new Set(open);
    for (const node of this.nodes.values()) {
      if (node.kind === "directory") for (const id of node.cache.values()) ids.add(id);
    }
    let used = 0;
    for (const id of ids) {
      const node = this.node(id);
      if (node.kind === "file") used += node.allocated;
    }
    return used;
  }

  /** Forgets nodes that neither a name nor an open file leads to. */
  prune(open: Iterable<number>): void {
    const live = this.reachable();
    for (const id of open) live.set(id, this.node(id));
    this.nodes = live;
  }

  /** A tree of these nodes (including the root) that continues this one's numbering. */
  successor(nodes: Map<number, Node>, epoch: Epoch): Tree {
    const tree = new Tree();
    tree.nodes = nodes;
    tree.epoch = epoch;
    tree.lastSeq = this.lastSeq;
    tree.lastId = this.lastId;
    return tree;
  }
}

/** Paths come again and again; splitting them was a seventh of every run. */
const NAMES = new Map<string, readonly string[]>();
const MAX_NAMES = 10_000;

function namesIn(path: string): readonly string[] {
  let names = NAMES.get(path);
  if (names === undefined) {
    assert(path.startsWith("/"), "a path is absolute"); // T1
    names = path.split("/").filter((name) => name !== "" && name !== ".");
    if (NAMES.size >= MAX_NAMES) NAMES.clear();
    NAMES.set(path, names);
  }
  return names;
}

function* children(node: Directory): Generator<number> {
  yield* node.durable.values();
  yield* node.cache.values();
  for (const op of node.pending) for (const [, id] of op.changes) if (id !== undefined) yield id;
}
