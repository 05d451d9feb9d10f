// Access to randomness. Tests use a seeded generator.

export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** `count` random bytes. */
  bytes(count: number): Uint8Array;
}
