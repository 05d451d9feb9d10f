// Assertions about our own code. A failed one crashes the program, and the watchdog restarts it.

export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

export function assert(condition: boolean, promise: string): asserts condition {
  if (!condition) throw new AssertionError(`broken promise: ${promise}`);
}

/** For a branch that the types say cannot be reached. */
export function never(value: never, promise = "every case is handled"): never {
  throw new AssertionError(`broken promise: ${promise} (got ${JSON.stringify(value)})`);
}
