// What a power cut leaves: the durable state and any part of the pending writes.
// S1. Each pending operation survives or not on its own; nothing orders them but the syncs they were covered by.
// S2. A write may survive in part: up to any byte, in any of its sectors, or as length without bytes. Truncations and
//     names are whole or absent.
// S3. After the cut cache and durable state are the same and nothing is pending.
import type { Random } from "../../src/world/random.ts";
import type { Content } from "./content.ts";
import {
  applyEntryOp,
  applyFileOp,
  type Directory,
  type Epoch,
  type FileOp,
  type Inode,
  type Node,
  newDirectory,
  newFile,
  type PendingOp,
  type WriteOp,
} from "./inode.ts";
import { ROOT, type Tree } from "./tree.ts";

export const SECTOR = 512;

/**
 * `zeros`: the file got longer, the bytes did not come. `sectors`: `keep` is asked for each sector of the write,
 * counted from 0.
 */
export type Survival =
  | { readonly kind: "whole" }
  | { readonly kind: "absent" }
  | { readonly kind: "torn"; readonly bytes: number }
  | { readonly kind: "sectors"; readonly keep: (sector: number) => boolean; readonly extend: boolean }
  | { readonly kind: "zeros" };

export type Chooser = (op: PendingOp) => Survival;

const WHOLE: Survival = { kind: "whole" };
const ABSENT: Survival = { kind: "absent" };
const ZEROS: Survival = { kind: "zeros" };

export const everything: Chooser = () => WHOLE;
export const nothing: Chooser = () => ABSENT;

/** The tree as found after the power came back. */
export function cut(tree: Tree, choose: Chooser): Tree {
  const found = new Map<number, Node>();
  const epoch: Epoch = { epoch: true };
  const visit = (id: number): void => {
    if (found.has(id)) return;
    const node = tree.node(id);
    if (node.kind === "file") {
      found.set(id, newFile(epoch, survivingContent(node, choose)));
      return;
    }
    const entries = survivingEntries(node, choose);
    found.set(id, newDirectory(epoch, entries));
    for (const child of entries.values()) visit(child);
  };
  visit(ROOT);
  return tree.successor(found, epoch); // S3
}

function survivingContent(node: Inode, choose: Chooser): Content {
  const content = node.durable.share();
  for (const op of node.pending) applySurvivor(content, op, choose(op)); // S1
  return content;
}

function survivingEntries(node: Directory, choose: Chooser): Map<string, number> {
  if (node.pending.length === 0) return node.durable;
  const entries = new Map(node.durable);
  for (const op of node.pending) if (choose(op).kind === "whole") applyEntryOp(entries, op); // S2
  return entries;
}

function applySurvivor(content: Content, op: FileOp, survival: Survival): void {
  if (survival.kind === "whole") applyFileOp(content, op);
  else if (op.kind === "write") applyPart(content, op, survival);
}

function applyPart(content: Content, op: WriteOp, part: Survival): void {
  if (part.kind === "torn") content.write(op.bytes.subarray(0, part.bytes), op.offset);
  if (part.kind === "sectors") applySectors(content, op, part.keep);
  if (part.kind === "zeros" || (part.kind === "sectors" && part.extend)) content.extend(op.offset + op.bytes.length);
}

/** Sectors are those of the disk: the first and the last of a write are seldom full. */
function applySectors(content: Content, op: WriteOp, keep: (sector: number) => boolean): void {
  let from = 0;
  for (let sector = 0; from < op.bytes.length; sector += 1) {
    const to = Math.min(op.bytes.length, from + SECTOR - ((op.offset + from) % SECTOR));
    if (keep(sector)) content.write(op.bytes.subarray(from, to), op.offset + from);
    from = to;
  }
}

/**
 * Choosers for every whole-or-absent subset of what is pending, where that is at most `bound` operations (6: 64
 * subsets). Beyond
 * it: nothing, everything, each operation alone, and each one missing; add `randomSurvivor` for the rest.
 */
export function* survivors(pending: readonly PendingOp[], bound = 6): Generator<Chooser> {
  const bits = new Map(pending.map((op, index) => [op.seq, index]));
  if (pending.length <= bound) {
    for (let subset = 0; subset < 2 ** pending.length; subset += 1) {
      yield (op) => (((subset >> (bits.get(op.seq) ?? 0)) & 1) === 1 ? WHOLE : ABSENT);
    }
    return;
  }
  yield nothing;
  yield everything;
  for (const one of pending) {
    yield (op) => (op.seq === one.seq ? WHOLE : ABSENT);
    yield (op) => (op.seq === one.seq ? ABSENT : WHOLE);
  }
}

/** Any state the disk could be in. Each cut has its own bias, so that nearly-all and nearly-nothing occur as well. */
export function randomSurvivor(random: Random): Chooser {
  const moods = [0.1, 0.5, 0.9];
  const likely = moods[Math.floor(random.fraction() * moods.length)] ?? 0.5;
  return (op) => {
    if (random.fraction() < likely) return WHOLE;
    return op.kind === "write" ? randomPart(random, op.bytes.length) : ABSENT;
  };
}

function randomPart(random: Random, length: number): Survival {
  const dice = random.fraction();
  if (dice < 0.4) return ABSENT;
  if (dice < 0.6) return { kind: "torn", bytes: Math.floor(random.fraction() * length) };
  if (dice < 0.75) return ZEROS;
  return { kind: "sectors", keep: () => random.fraction() < 0.5, extend: random.fraction() < 0.5 };
}
