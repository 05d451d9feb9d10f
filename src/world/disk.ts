// The door to the disk: what `log/` may ask of it, and nothing else. `real/disk.ts` is the machine's own;
// `tests/sim/disk.ts` is one that forgets what was not synced. The calls are as raw as the system's:
// they may be short, they may be interrupted (EINTR), and they do no more than they say.
// D1. Nothing is durable before the file's `sync`/`datasync` (its bytes) and its directory's `syncDirectory` (its name).
// D2. A sync that failed is never repeated by this layer, nor may a caller repeat it: the second one would lie.
// D3. Every failure is a `Fault` that names operation, path and the system's code.

/** How a file is opened: `read` only; `write` one that exists (also reads); `create` where missing; `exclusive`: must not exist. */
export type OpenHow = "read" | "write" | "create" | "exclusive";

export type Stat = {
  readonly kind: "file" | "directory" | "other";
  readonly size: number;
  readonly mode: number;
  /** When its content last changed, as the system's clock said then. */
  readonly modifiedMs: number;
};

export interface OpenFile {
  readonly path: string;
  size(): number;
  /** Reads at `offset`; returns how many bytes came, which may be fewer than asked for, and 0 at the end. */
  read(into: Uint8Array, offset: number): number;
  /** Writes at `offset`; returns how many bytes were taken, which may be fewer than given. */
  write(bytes: Uint8Array, offset: number): number;
  truncate(length: number): void;
  /** fdatasync in the background: the bytes and the length they need are durable when it resolves. */
  datasync(): Promise<void>;
  /** fdatasync on this thread. Faster where the disk is fast; the caller chooses. */
  datasyncBlocking(): void;
  /** fsync in the background. */
  sync(): Promise<void>;
  /** Takes the exclusive advisory lock (flock) if nobody has it. It is held until `close` or the end of the process. */
  tryLock(): boolean;
  close(): void;
}

export interface Disk {
  /** New files are 0600. */
  open(path: string, how: OpenHow): OpenFile;
  /** undefined where nothing is. */
  stat(path: string): Stat | undefined;
  /** The names in a directory, in no order; empty where there is no directory. */
  list(path: string): string[];
  /** Makes one directory, 0700. Its parent must exist; false where it existed already. */
  makeDirectory(path: string): boolean;
  /** Atomically replaces `to`. Durable with `syncDirectory` of the directory (both, where they differ). */
  rename(from: string, to: string): void;
  /** A second name for the same file; EEXIST where `to` exists. */
  link(from: string, to: string): void;
  /** ENOENT where it is missing. */
  unlink(path: string): void;
  removeDirectory(path: string): void;
  syncDirectory(path: string): Promise<void>;
  /** Bytes that may still be written by us. */
  free(path: string): number;
}
