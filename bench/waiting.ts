// Waiting for a fact, with a bound: whatever does not come within it breaks the benchmark instead of hanging it.

const LOOK_MS = 2;

export async function until<T>(
  what: string,
  limitMs: number,
  look: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await Bun.sleep(LOOK_MS);
  }
}

/** The promise's value, or an error that names what was waited for. */
export async function within<T>(what: () => string, limitMs: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`not within ${limitMs / 1000} s: ${what()}`)), limitMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
