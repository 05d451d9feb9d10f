// The door to the machine as `doctor` and `service` look at it: what kind it is, who we are on it, and how files are protected.

export type Looked = {
  readonly kind: "file" | "directory" | "socket" | "link" | "other";
  /** The permission bits. */
  readonly mode: number;
  readonly uid: number;
  /** Wall-clock milliseconds. */
  readonly changedAt: number;
};

export interface Machine {
  readonly platform: "linux" | "darwin" | "other";
  /** The version of the runtime that runs us. */
  readonly runtime: string;
  readonly uid: number;
  readonly user: string;
  /** What lies at the path itself; a link is not followed. undefined where nothing is. */
  look(path: string): Looked | undefined;
  /** A link is not followed, and nothing happens to one. */
  protect(path: string, mode: number): void;
  /** How many files may still be made; undefined where the file system does not count them. */
  freeInodes(path: string): number | undefined;
}
