// The door to symbolic links: names that lead to where something is now.
// LN1. A link leads to the old place or to the new one at every moment; there is no moment without it.

export interface Links {
  /** Where it leads; undefined where there is no link. */
  read(path: string): string | undefined;
  /** Makes it, or lets it lead elsewhere (LN1). Its directory must exist. */
  point(path: string, target: string): void;
  /** Nothing happens where there is none. */
  remove(path: string): void;
}
