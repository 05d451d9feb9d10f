// Access to the disk: everything that `log/` may ask of it. `real/disk.ts` is the machine's disk; `tests/sim/disk.ts`
// simulates one that forgets what was not synced. The calls are as raw as system calls: they may be short, they may be
// interrupted (EINTR), and they do nothing extra.
// D1. Nothing is durable before `sync`/`datasync` of the file (its bytes) and `syncDirectory` of its directory (its
//     name).
// D2. This layer never repeats a failed sync, and neither may a caller: the second one would falsely succeed.
// D3. Every failure is a `Fault` with the operation, the path and the system's error code.

/**
 * How a file is opened: `read` only; `write`: it must exist (also reads); `create`: if missing; `exclusive`: it must
 * not exist.
 */
export type OpenHow = "read" | "write" | "create" | "exclusive";

export type Stat = {
  readonly kind: "file" | "directory" | "other";
  readonly size: number;
  readonly mode: number;
  /** When its content last changed, by the system's clock. */
  readonly modifiedMs: number;
  /** Tells it from every other file of this machine: a copy has another one, and a renamed file keeps its own. */
  readonly id: string;
};

export interface OpenFile {
  readonly path: string;
  size(): number;
  /** Reads at `offset`; returns the number of bytes, which may be fewer than asked for, and 0 at the end. */
  read(into: Uint8Array, offset: number): number;
  /** Writes at `offset`; returns the number of bytes written, which may be fewer than given. */
  write(bytes: Uint8Array, offset: number): number;
  truncate(length: number): void;
  /** fdatasync in the background: the bytes and the length they need are durable when it resolves. */
  datasync(): Promise<void>;
  /**
   * Starts to write the bytes, so that the syncs of several files share the disk's work. Nothing is durable by it; a
   * failure is that of a sync (D2).
   */
  startSync(): void;
  /** fdatasync on this thread. Faster if the disk is fast; the caller chooses. */
  datasyncBlocking(): void;
  /** fsync in the background. */
  sync(): Promise<void>;
  /** Takes the exclusive advisory lock (flock) if it is free, and holds it until `close` or the end of the process. */
  tryLock(): boolean;
  close(): void;
}

export interface Disk {
  /** New files are 0600. */
  open(path: string, how: OpenHow): OpenFile;
  /** Returns undefined if nothing is there. Follows symbolic links. */
  stat(path: string): Stat | undefined;
  /** The same of a symbolic link itself, which is of kind "other". */
  lstat(path: string): Stat | undefined;
  /** The path without any symbolic link in it; undefined if nothing is there. */
  realPath(path: string): string | undefined;
  /** The names in a directory, unordered; empty if there is no directory. */
  list(path: string): string[];
  /** Makes one directory, 0700. Its parent must exist. Returns false if it already existed. */
  makeDirectory(path: string): boolean;
  /** Atomically replaces `to`. Durable after `syncDirectory` (of both directories, if they differ). */
  rename(from: string, to: string): void;
  /** Gives the same file a second name; Fault EEXIST if `to` exists. */
  link(from: string, to: string): void;
  /** Fault ENOENT if it is missing. */
  unlink(path: string): void;
  removeDirectory(path: string): void;
  syncDirectory(path: string): Promise<void>;
  /** How many bytes we may still write. */
  free(path: string): number;
}
