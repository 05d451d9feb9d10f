// Waits for many at once, so that nothing of it is left when the caller goes on.

/** The values of all; if some fail, throws the first failure once the others have ended too. */
export async function allOf<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const ended = await Promise.allSettled(work);
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  return ended.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

/** The same for a long list, no more than `atOnce` of it at a time; after a failure nothing more is begun. */
export async function someAtOnce<I, T>(
  atOnce: number,
  items: Iterable<I>,
  work: (item: I) => Promise<T>,
): Promise<T[]> {
  const done: T[] = [];
  const rest = [...items].entries();
  let failed = false;
  const lane = async () => {
    for (const [at, item] of rest) {
      if (failed) return;
      try {
        done[at] = await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await allOf(Array.from({ length: atOnce }, lane));
  return done;
}
