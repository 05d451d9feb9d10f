// The arguments of `npm test`: paths that select test files, `--timings`, and arguments for `bun test`.
export type Chosen = {
  readonly paths: readonly string[];
  readonly flags: readonly string[];
  readonly timings: boolean;
};

/**
 * `all` is every test file. A word is a path if a test file's path contains it, otherwise the value of the flag before
 * it.
 */
export function chosen(args: readonly string[], all: readonly string[]): Chosen {
  const words = args.filter((word) => word !== "--timings");
  const wanted: string[] = [];
  const flags: string[] = [];
  for (const [at, word] of words.entries()) {
    const followsFlag = words[at - 1]?.startsWith("-") === true && !words[at - 1]?.includes("=");
    const isPath = !word.startsWith("-") && all.some((path) => path.includes(bare(word)));
    if (isPath) wanted.push(bare(word));
    else if (word.startsWith("-") || followsFlag) flags.push(word);
    else throw new Error(`no test file has ${JSON.stringify(word)} in its path`);
  }
  const paths = wanted.length === 0 ? all : all.filter((path) => wanted.some((word) => path.includes(word)));
  return { paths, flags, timings: words.length < args.length };
}

function bare(word: string): string {
  return word.replace(/^\.\//, "");
}
