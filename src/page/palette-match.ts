// Finds commands by a few of their letters, in order, as people type them.

/** How well `text` fits: higher is better; undefined if not all letters are in it. Beginnings of words count more. */
export function fitOf(query: string, text: string): number | undefined {
  const [letters, whole] = [query.toLowerCase().replaceAll(" ", ""), text.toLowerCase()];
  let score = 0;
  let at = -1;
  for (const letter of letters) {
    const next = whole.indexOf(letter, at + 1);
    if (next < 0) return undefined;
    const isWordStart = next === 0 || /[\s/:._-]/.test(whole[next - 1] ?? "");
    score += (isWordStart ? 4 : 0) + (next === at + 1 ? 3 : 0) - Math.min(3, (next - at - 1) / 8);
    at = next;
  }
  return score - whole.length / 200;
}

/** The fitting ones, the best first; as they were if nothing is typed. */
export function matching<T>(query: string, all: readonly T[], textOf: (one: T) => string): T[] {
  if (query.trim() === "") return [...all];
  const found = all.flatMap((one) => {
    const fit = fitOf(query, textOf(one));
    return fit === undefined ? [] : [{ one, fit }];
  });
  return found.sort((a, b) => b.fit - a.fit).map(({ one }) => one);
}
