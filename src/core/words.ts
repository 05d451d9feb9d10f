// Parses the words of a command line: options with their values, and the rest. Each program has its own grammar.
// WD1. If it is not certain whether a word belongs to an option, the whole command line is doubtful: nothing is
//      guessed.

export type Grammar = {
  /** Take the next word. */
  readonly values: readonly string[];
  /** Take all that follows up to the next option. */
  readonly lists: readonly string[];
  /** Take the next word unless it is an option. */
  readonly optional: readonly string[];
  /** Take nothing. */
  readonly switches: readonly string[];
};

export type Option = { readonly name: string; readonly words: readonly string[] };
export type Told = {
  readonly options: readonly Option[];
  readonly rest: readonly string[];
  readonly doubtful: boolean;
};

export function tellApart(words: readonly string[], grammar: Grammar): Told {
  const options: Option[] = [];
  const rest: string[] = [];
  let doubtful = false;
  for (let at = 0; at < words.length; ) {
    const word = words[at] ?? "";
    if (word === "--") {
      rest.push(...words.slice(at + 1));
      break;
    }
    if (!isOption(word)) {
      rest.push(word);
      at += 1;
      continue;
    }
    const [name = ""] = word.split("=", 1);
    const taken = word.includes("=") ? 0 : takes(name, words.slice(at + 1), grammar);
    doubtful ||= taken === undefined;
    options.push({ name, words: words.slice(at, at + 1 + (taken ?? 0)) });
    at += 1 + (taken ?? 0);
  }
  return { options, rest, doubtful };
}

/** How many of the following words belong to the option; undefined if uncertain (WD1). */
function takes(name: string, following: readonly string[], grammar: Grammar): number | undefined {
  const [next] = following;
  if (grammar.switches.includes(name) || next === undefined) return 0;
  if (grammar.values.includes(name)) return 1;
  if (isOption(next)) return 0;
  if (grammar.optional.includes(name)) return 1;
  if (!grammar.lists.includes(name)) return undefined;
  const end = following.findIndex(isOption);
  return end === -1 ? following.length : end;
}

function isOption(word: string): boolean {
  return word.startsWith("-") && word !== "-";
}

/** The value of an option, where it occurs last. */
export function givenTo({ options }: Told, ...names: readonly string[]): string | undefined {
  const found = options.findLast(({ name }) => names.includes(name));
  const [word = "", value] = found?.words ?? [];
  return value ?? (word.includes("=") ? word.slice(word.indexOf("=") + 1) : undefined);
}

export function has({ options }: Told, ...names: readonly string[]): boolean {
  return options.some(({ name }) => names.includes(name));
}

/** The words of all options except these. */
export function without({ options }: Told, names: readonly string[]): string[] {
  return options.filter(({ name }) => !names.includes(name)).flatMap(({ words }) => words);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
