// What a simulated disk is made of: files and directories, each with a durable and a cached side and the operations
// between them.
// I1. `cache` is what every process sees; `durable` is what a power cut leaves; `pending` leads from one to the other.
// I2. `pending` is in the order of issue (`seq` rises), so a sync always covers a prefix of it.
// I3. A node belongs to one epoch of one disk; any other disk clones it before it changes it.
import { Content } from "./content.ts";

export type WriteOp = {
  readonly kind: "write";
  readonly seq: number;
  readonly path: string;
  readonly offset: number;
  readonly bytes: Uint8Array;
};
export type TruncateOp = {
  readonly kind: "truncate";
  readonly seq: number;
  readonly path: string;
  readonly length: number;
};
/** Names set (to an inode) or unset (undefined) in one directory, all at once: a rename is one such operation. */
export type EntryOp = {
  readonly kind: "entries";
  readonly seq: number;
  readonly path: string;
  readonly changes: readonly EntryChange[];
};
export type EntryChange = readonly [name: string, id: number | undefined];
export type FileOp = WriteOp | TruncateOp;
export type PendingOp = FileOp | EntryOp;

/** Its identity is all it has: it says which disk, since which fork, may change a node. */
export type Epoch = { readonly epoch: true };

export type Inode = {
  readonly kind: "file";
  readonly epoch: Epoch;
  readonly durable: Content;
  readonly cache: Content;
  pending: FileOp[];
  /**
   * Bytes the disk has set aside. A file made longer by `truncate` has none there yet, so writing into it may find the
   * disk full.
   */
  allocated: number;
};

export type Directory = {
  readonly kind: "directory";
  readonly epoch: Epoch;
  readonly durable: Map<string, number>;
  readonly cache: Map<string, number>;
  pending: EntryOp[];
};

export type Node = Inode | Directory;

export function newFile(epoch: Epoch, durable = new Content(), cache = durable.share()): Inode {
  return { kind: "file", epoch, durable, cache, pending: [], allocated: cache.length };
}

export function newDirectory(epoch: Epoch, entries: ReadonlyMap<string, number> = new Map()): Directory {
  return { kind: "directory", epoch, durable: new Map(entries), cache: new Map(entries), pending: [] };
}

export function cloneFile(epoch: Epoch, node: Inode): Inode {
  const copy = newFile(epoch, node.durable.share(), node.cache.share());
  copy.pending = node.pending.slice();
  copy.allocated = node.allocated;
  return copy;
}

export function cloneDirectory(epoch: Epoch, node: Directory): Directory {
  const pending = node.pending.slice();
  return { kind: "directory", epoch, durable: new Map(node.durable), cache: new Map(node.cache), pending };
}

export function applyFileOp(content: Content, op: FileOp): void {
  if (op.kind === "write") content.write(op.bytes, op.offset);
  else content.truncate(op.length);
}

export function applyEntryOp(entries: Map<string, number>, op: EntryOp): void {
  for (const [name, id] of op.changes) {
    if (id === undefined) entries.delete(name);
    else entries.set(name, id);
  }
}

/**
 * Removes what was issued up to `mark` from pending; makes it durable, or (after a failed sync) forgets it for good.
 */
export function settle(node: Node, mark: number, reached: boolean): void {
  if (node.kind === "file") {
    const covered = node.pending.filter((op) => op.seq <= mark); // I2
    node.pending = node.pending.slice(covered.length);
    if (reached) for (const op of covered) applyFileOp(node.durable, op);
    return;
  }
  const covered = node.pending.filter((op) => op.seq <= mark);
  node.pending = node.pending.slice(covered.length);
  if (reached) for (const op of covered) applyEntryOp(node.durable, op);
}
