// Memo: caches the results of a pure function of a text.
// M1. A full cache is emptied: memory is bounded, and the results are the same either way.

/** Workflows have far fewer distinct texts. */
const MOST = 1000;

export function memo<T>(answer: (text: string) => T): (text: string) => T {
  const known = new Map<string, { readonly value: T }>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found.value;
    if (known.size >= MOST) known.clear(); // M1
    const value = answer(text);
    known.set(text, { value });
    return value;
  };
}
