// Access to symbolic links: names that lead to where something is now.
// LN1. At every moment a link leads to the old place or to the new one; it is never missing in between.

export interface Links {
  /** Where it leads; undefined if there is no link. */
  read(path: string): string | undefined;
  /** Creates or redirects the link (LN1). Its directory must exist. */
  point(path: string, target: string): void;
  /** Does nothing if there is none. */
  remove(path: string): void;
}
