// Waits for many at once, so that nothing of it is left when the caller goes on.

/** The values of all; if some fail, throws the first failure once the others have ended too. */
export async function allOf<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const ended = await Promise.allSettled(work);
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  return ended.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}
