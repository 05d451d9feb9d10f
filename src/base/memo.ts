// Memo: a pure function of a text that remembers what it answered.
// M1. It forgets everything once it knows too much: memory is bounded, and the answer is the same either way.

/** Workflows have far fewer different texts; a text is read again after a thousand others. */
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
