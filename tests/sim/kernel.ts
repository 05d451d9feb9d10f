// What the simulated disk and its open files share: the tree, the syncs, the space, the locks; and the test's own
// hands.
// K1. A sync covers what was issued before it was called, even if the gate lets it end later (M2).
// K2. The hands of the test (`peek`, `durable`, `plant`, `rot`) are no disk calls: not counted, not shown, never
//     failing.
import { assert } from "../../src/base/assert.ts";
import { Fault } from "../../src/base/fault.ts";
import { Calls, type FaultChoice, type Operation } from "./faults.ts";
import { type Node, type PendingOp, settle } from "./inode.ts";
import { type Slot, Tree } from "./tree.ts";

export type Sync = { readonly operation: Operation; readonly path: string; readonly id: number };
/** Whoever holds a file open; locks belong to it. */
export type Holder = { readonly id: number };

const PRUNE_ABOVE = 64;

export class Kernel extends Calls {
  /** In bytes. Writes beyond it are short first, then ENOSPC. */
  capacity = Number.POSITIVE_INFINITY;
  readOnly = false;
  readonly tree: Tree;
  readonly locks = new Map<number, Holder>();
  protected readonly holders = new Set<Holder>();
  private pruneAbove = PRUNE_ABOVE;

  constructor(tree = new Tree()) {
    super();
    this.tree = tree;
  }

  /** How many files are open: a test for leaks. */
  get openCount(): number {
    return this.holders.size;
  }

  /** What is neither durable nor lost yet, in the order of issue. */
  pending(): PendingOp[] {
    return this.tree.pending();
  }

  async syncGated(sync: Sync): Promise<void> {
    const choice = this.begin(sync.operation, sync.path, 0);
    const mark = this.tree.lastSeq; // K1
    if (this.gate !== undefined) {
      await this.gate({ index: this.calls, operation: sync.operation, path: sync.path, length: 0 });
      this.alive();
    }
    this.finishSync(sync, mark, choice);
  }

  /** What is begun may be on disk after a crash, as any write may; if it fails, the writes are lost as by a sync. */
  startSync(sync: Sync): void {
    const choice = this.begin(sync.operation, sync.path, 0);
    if (choice !== undefined) this.finishSync(sync, this.tree.lastSeq, choice);
  }

  /** If it fails, the writes it covered are forgotten for good: a second sync would succeed and bring nothing back. */
  finishSync(sync: Sync, mark: number, choice: FaultChoice | undefined): void {
    if (choice?.kind === "crash") this.die(`crashed in ${sync.operation} ${sync.path}`);
    const fails = choice?.kind === "fail";
    if (this.tree.node(sync.id).pending.length > 0) {
      settle(this.tree.own(sync.id), mark, !fails || choice.reached === true);
    }
    if (fails) throw new Fault({ code: choice.code, operation: sync.operation, path: sync.path });
    if (this.tree.size > this.pruneAbove) this.prune();
  }

  unused(): number {
    if (this.capacity === Number.POSITIVE_INFINITY) return this.capacity;
    return Math.max(0, this.capacity - this.tree.used(this.openIds()));
  }

  release(holder: Holder): void {
    this.holders.delete(holder);
    if (this.locks.get(holder.id) === holder) this.locks.delete(holder.id);
  }

  /** The bytes that processes see. */
  peek(path: string): Uint8Array | undefined {
    const node = this.nodeAt(path);
    return node?.kind === "file" ? node.cache.bytes() : undefined;
  }

  /** The bytes of this file that are durable, whether or not its name is. */
  durable(path: string): Uint8Array | undefined {
    const node = this.nodeAt(path);
    return node?.kind === "file" ? node.durable.bytes() : undefined;
  }

  /** Puts a file there, durable, with the directories above it. */
  plant(path: string, bytes: Uint8Array): void {
    let directory = "/";
    for (const name of path.split("/").slice(1, -1)) {
      directory = `${directory === "/" ? "" : directory}/${name}`;
      this.plantNode(directory, "directory");
    }
    const id = this.plantNode(path, "file");
    const inode = this.tree.ownFile(id);
    for (const side of [inode.cache, inode.durable]) {
      side.truncate(0);
      side.write(bytes, 0);
    }
    inode.pending = [];
    inode.allocated = bytes.length;
  }

  /** Flips bits of one byte, in the cache and on the disk. */
  rot(path: string, offset: number, mask: number): void {
    const id = this.tree.lookup(path);
    assert(typeof id === "number", `${path} is there to rot`);
    const inode = this.tree.ownFile(id);
    inode.cache.flip(offset, mask);
    inode.durable.flip(offset, mask);
  }

  private plantNode(path: string, kind: Node["kind"]): number {
    const slot: Slot = this.tree.slot("plant", path);
    if (slot.id !== undefined) return slot.id;
    const id = this.tree.add(kind);
    const parent = this.tree.ownDirectory(slot.directory);
    parent.cache.set(slot.name, id);
    parent.durable.set(slot.name, id);
    return id;
  }

  private nodeAt(path: string): Node | undefined {
    const id = this.tree.lookup(path);
    return typeof id === "number" ? this.tree.node(id) : undefined;
  }

  private prune(): void {
    this.tree.prune(this.openIds());
    this.pruneAbove = PRUNE_ABOVE + 2 * this.tree.size;
  }

  private openIds(): number[] {
    return [...this.holders].map((holder) => holder.id);
  }
}
