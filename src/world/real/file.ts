// An open file on the machine's disk: each method is one system call, never a loop.
// R1. Use after `close` fails an assertion: the system may have given the descriptor's number to another file by then.
// R2. For the same reason the descriptor outlives `close` until running syncs have finished: they use it by number on
//     other threads.
import { closeSync, fdatasync, fdatasyncSync, fstatSync, fsync, ftruncateSync, readSync, writeSync } from "node:fs";
import { assert } from "../../base/assert.ts";
import type { OpenFile } from "../disk.ts";
import { asFault, attempt } from "./attempt.ts";
import { tryFlock } from "./flock.ts";
import { startWriteBack } from "./write-back.ts";

type SyncCall = (fd: number, done: (error: Error | null) => void) => void;

export class RealFile implements OpenFile {
  readonly path: string;
  private readonly fd: number;
  private closed = false;
  private syncing = 0;

  constructor(path: string, fd: number) {
    this.path = path;
    this.fd = fd;
  }

  size(): number {
    return this.call("size", (fd) => fstatSync(fd).size);
  }

  read(into: Uint8Array, offset: number): number {
    return this.call("read", (fd) => readSync(fd, into, 0, into.length, offset));
  }

  write(bytes: Uint8Array, offset: number): number {
    return this.call("write", (fd) => writeSync(fd, bytes, 0, bytes.length, offset));
  }

  truncate(length: number): void {
    this.call("truncate", (fd) => ftruncateSync(fd, length));
  }

  datasync(): Promise<void> {
    return this.background("datasync", fdatasync);
  }

  startSync(): void {
    this.call("startSync", (fd) => startWriteBack(fd, this.path));
  }

  datasyncBlocking(): void {
    this.call("datasyncBlocking", fdatasyncSync);
  }

  sync(): Promise<void> {
    return this.background("sync", fsync);
  }

  tryLock(): boolean {
    return this.call("tryLock", (fd) => tryFlock(fd, this.path));
  }

  close(): void {
    this.mustBeOpen();
    this.closed = true;
    if (this.syncing === 0) this.closeDescriptor(); // R2
  }

  private async background(operation: string, act: SyncCall): Promise<void> {
    this.mustBeOpen();
    this.syncing += 1;
    const error = await new Promise<Error | null>((done) => act(this.fd, done));
    this.syncing -= 1;
    if (this.closed && this.syncing === 0) this.closeDescriptor(); // R2
    if (error) throw asFault(error, operation, this.path);
  }

  private closeDescriptor(): void {
    attempt("close", this.path, () => closeSync(this.fd));
  }

  private call<T>(operation: string, act: (fd: number) => T): T {
    this.mustBeOpen();
    return attempt(operation, this.path, () => act(this.fd));
  }

  private mustBeOpen(): void {
    assert(!this.closed, `${this.path} is not used after close`); // R1
  }
}
