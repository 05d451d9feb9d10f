// What a path leads through: every directory and every link on the way, and what is at its end.

export type PathStep = {
  readonly path: string;
  readonly kind: "directory" | "link" | "socket" | "other";
  readonly uid: number;
  /** The permission bits, with the sticky bit. */
  readonly mode: number;
};

export interface PathSteps {
  /** Our user. */
  readonly uid: number;
  /** In the order in which the system goes through them; what does not exist, and all behind it, is missing. */
  steps(path: string): readonly PathStep[];
}
