// Patterns of permission rules: `*` any characters, `**` the same, `?` one, `[ab]` one of these, everything else
// itself.
// J1. A narrow `*` or `?` matches only what cannot turn one command into another (P3 of rules.ts); `**` matches all.
//     It does not match
//     - control characters, and what joins commands in a shell or puts the output of one into another;
//     - the dash of an option (`git -c alias.x='!evil' x`), also behind quotes, a backslash or a brace, which a shell
//       removes; nor what may become one: a word that begins with `*`, `?` or `[` is replaced by names of files, and
//       one of them may be `-c`. A `(` at this place would define a function;
//     - `..` behind a slash: `/srv/*` is nothing above /srv.
// J2. Matching costs at most the length of the text times that of the pattern: an agent chooses the text.

export type Width = "narrow" | "wide";

/** One character of a text, or any number of them. */
type Token = {
  readonly repeats: boolean;
  /** The characters it matches; undefined: all, or all that are not forbidden if it is `guarded`. */
  readonly only: ReadonlySet<string> | undefined;
  readonly guarded: boolean;
};

export type Pattern = readonly Token[];

const TOKEN = /\*\*|\*|\?|\[[^\]]+\]|[^*?[]/gsu;
/** J1 */
const FORBIDDEN = /[^\P{Cc}\t]|[;&|<>`$]/u;
/** What may come before the first character of a word, as a shell sees it. The beginning of the text is one too. */
const WORD_BREAKS: ReadonlySet<string> = new Set(" \t\"'\\{,");
const EXPANDED: ReadonlySet<string> = new Set("*?[(");

/** Undefined if it is not a pattern: empty, or with an unclosed `[`. */
export function patternOf(text: string): Pattern | undefined {
  const parts = text.match(TOKEN) ?? [];
  return text === "" || parts.join("") !== text ? undefined : parts.map(tokenOf);
}

function tokenOf(part: string): Token {
  if (part === "**") return { repeats: true, only: undefined, guarded: false };
  if (part === "*" || part === "?") return { repeats: part === "*", only: undefined, guarded: true };
  const only = new Set(part.length > 1 && part.startsWith("[") ? part.slice(1, -1) : part);
  return { repeats: false, only, guarded: false };
}

/** Matches the whole text, following all paths through the pattern at once: `at` has the positions reached (J2). */
export function matches(pattern: Pattern, text: string, width: Width): boolean {
  let at = skips(pattern, new Set([0]));
  let [earlier, previous] = ["", ""];
  for (const character of text) {
    const isFree = width === "wide" || !isRisky(character, previous, earlier);
    const next = new Set<number>();
    for (const place of at) {
      const token = pattern[place];
      if (token !== undefined && takes(token, character, isFree)) next.add(token.repeats ? place : place + 1);
    }
    at = skips(pattern, next);
    if (at.size === 0) return false;
    [earlier, previous] = [previous, character];
  }
  return at.has(pattern.length);
}

/** Adds the positions reached by letting a repetition match nothing. */
function skips(pattern: Pattern, places: Set<number>): Set<number> {
  // Iterating a set also yields what was added meanwhile.
  for (const place of places) if (pattern[place]?.repeats === true) places.add(place + 1);
  return places;
}

function takes({ only, guarded }: Token, character: string, isFree: boolean): boolean {
  return only === undefined ? !guarded || isFree : only.has(character);
}

/** J1. `previous` and `earlier` are the two characters before it, empty at the beginning. */
function isRisky(character: string, previous: string, earlier: string): boolean {
  if (FORBIDDEN.test(character)) return true;
  if (character === "-") return previous === "" || WORD_BREAKS.has(previous);
  if (EXPANDED.has(character)) return WORD_BREAKS.has(previous);
  return character === "." && previous === "." && earlier === "/";
}
