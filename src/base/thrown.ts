// What may be logged of an error that a request led to.

/** Its kind and where it was thrown, without its words: they may quote what was sent, which may be secret. */
export function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const words = `${error.name}: ${error.message}`;
  const stack = error.stack?.startsWith(words) === true ? error.stack.slice(words.length) : "";
  return `${error.name}${stack}`;
}
