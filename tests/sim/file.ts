// An open file of the simulated disk.
// F1. Use after `close` is a bug of the caller, not a fault of the disk: it asserts.
// F2. A write is kept as a copy: the caller may reuse its buffer at once.
import { assert } from "../../src/base/assert.ts";
import { Fault } from "../../src/base/fault.ts";
import type { OpenFile } from "../../src/world/disk.ts";
import type { FaultChoice, Operation } from "./faults.ts";
import type { Kernel, Sync } from "./kernel.ts";

export class SimFile implements OpenFile {
  readonly path: string;
  readonly id: number;
  private readonly disk: Kernel;
  private readonly writable: boolean;
  private open = true;

  constructor(disk: Kernel, path: string, id: number, writable: boolean) {
    this.disk = disk;
    this.path = path;
    this.id = id;
    this.writable = writable;
  }

  size(): number {
    this.enter("size");
    return this.disk.tree.file(this.id).cache.length;
  }

  read(into: Uint8Array, offset: number): number {
    const choice = this.enter("read", into.length);
    return this.disk.tree.file(this.id).cache.read(into, offset, taken(choice, into.length));
  }

  write(bytes: Uint8Array, offset: number): number {
    const choice = this.enter("write", bytes.length);
    this.mustBeWritable("write");
    const wanted = taken(choice, bytes.length);
    const count = Math.min(wanted, this.room(offset, wanted));
    // F2: a copy; the slice of a Buffer is none
    if (count > 0) this.put(new Uint8Array(bytes.subarray(0, count)), offset);
    if (choice?.kind === "crash") this.disk.die(`crashed in write ${this.path} after ${count} bytes`);
    if (count === 0 && wanted > 0) this.disk.refuse("write", this.path, "ENOSPC");
    return count;
  }

  truncate(length: number): void {
    this.enter("truncate");
    this.mustBeWritable("truncate");
    const inode = this.disk.tree.ownFile(this.id);
    inode.cache.truncate(length);
    inode.allocated = Math.min(inode.allocated, length);
    this.disk.tree.lastSeq += 1;
    inode.pending.push({ kind: "truncate", seq: this.disk.tree.lastSeq, path: this.path, length });
  }

  datasync(): Promise<void> {
    return this.syncLater("datasync");
  }

  startSync(): void {
    this.mustBeOpen();
    this.disk.startSync({ operation: "startSync", path: this.path, id: this.id });
  }

  datasyncBlocking(): void {
    this.mustBeOpen();
    const choice = this.disk.begin("datasyncBlocking", this.path, 0);
    const sync: Sync = { operation: "datasyncBlocking", path: this.path, id: this.id };
    this.disk.finishSync(sync, this.disk.tree.lastSeq, choice);
  }

  sync(): Promise<void> {
    return this.syncLater("sync");
  }

  tryLock(): boolean {
    this.enter("tryLock");
    const owner = this.disk.locks.get(this.id);
    if (owner !== undefined && owner !== this) return false;
    this.disk.locks.set(this.id, this);
    return true;
  }

  close(): void {
    this.mustBeOpen();
    const choice = this.disk.begin("close", this.path, 0);
    this.open = false;
    this.disk.release(this); // As on Linux, the descriptor is gone even if close reports a failure.
    if (choice?.kind === "fail") throw new Fault({ code: choice.code, operation: "close", path: this.path });
  }

  private async syncLater(operation: "datasync" | "sync"): Promise<void> {
    this.mustBeOpen();
    await this.disk.syncGated({ operation, path: this.path, id: this.id });
  }

  private put(bytes: Uint8Array, offset: number): void {
    const inode = this.disk.tree.ownFile(this.id);
    inode.cache.write(bytes, offset);
    inode.allocated = Math.max(inode.allocated, offset + bytes.length);
    this.disk.tree.lastSeq += 1;
    inode.pending.push({ kind: "write", seq: this.disk.tree.lastSeq, path: this.path, offset, bytes });
  }

  /** How many bytes at `offset` the disk still accepts: those already allocated, and the free ones. */
  private room(offset: number, wanted: number): number {
    if (this.disk.capacity === Number.POSITIVE_INFINITY) return wanted;
    const allocated = this.disk.tree.file(this.id).allocated;
    return Math.max(0, allocated + this.disk.unused() - offset);
  }

  private mustBeWritable(operation: "write" | "truncate"): void {
    // Linux has a code of its own for each.
    const code = operation === "write" ? "EBADF" : "EINVAL";
    if (!this.writable) throw new Fault({ code, operation, path: this.path });
    if (this.disk.readOnly) this.disk.refuse(operation, this.path, "EROFS");
  }

  private mustBeOpen(): void {
    assert(this.open, `${this.path} is not used after close`); // F1
  }

  private enter(operation: Operation, length = 0): FaultChoice | undefined {
    this.mustBeOpen();
    return this.disk.enter(operation, this.path, length);
  }
}

function taken(choice: FaultChoice | undefined, length: number): number {
  return choice === undefined || choice.kind === "fail" ? length : Math.min(length, choice.bytes);
}
