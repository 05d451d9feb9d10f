// The machine as `doctor` and `service` see it: its platform, our user, and how files are protected.

export type Looked = {
  readonly kind: "file" | "directory" | "socket" | "link" | "other";
  /** The permission bits. */
  readonly mode: number;
  readonly uid: number;
  /** Wall-clock milliseconds. */
  readonly changedAt: number;
};

/** Where a file system is mounted, its type (`ext4`), and what is mounted. */
export type FileSystem = {
  readonly mount: string;
  readonly type: string;
  readonly source: string;
  readonly readOnly: boolean;
};

export interface Machine {
  readonly platform: "linux" | "darwin" | "other";
  /** The version of the runtime that runs us. */
  readonly runtime: string;
  readonly uid: number;
  readonly user: string;
  /** The name of the machine. */
  readonly hostName: string;
  /** What is at the path itself; a link is not followed. Returns undefined if nothing is there. */
  look(path: string): Looked | undefined;
  /** A link is neither followed nor changed. */
  protect(path: string, mode: number): void;
  /** How many files can still be made; undefined if the file system does not count them. */
  freeInodes(path: string): number | undefined;
  /** The file system that a path is on; undefined if the path does not exist, or the system does not tell. */
  fileSystem(path: string): FileSystem | undefined;
  /**
   * The memory of a process in bytes: its own, and its share of what it has together with others. Returns undefined if
   * the process is gone, or the system does not tell.
   */
  memory(pid: number): number | undefined;
}
