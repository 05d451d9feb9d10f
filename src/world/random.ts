// The door to chance. Tests pass a seeded one.

export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** `count` random bytes. */
  bytes(count: number): Uint8Array;
}
