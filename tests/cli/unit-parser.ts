// Reads a unit file as systemd does (systemd.syntax, systemd.service): words in quotes, C escapes, `%%`, prefixes of
// programs.

/** The values of a key, one for each line that has it. */
export function linesOf(text: string, key: string): string[] {
  const lines = text.split("\n").filter((line) => line.startsWith(`${key}=`));
  return lines.map((line) => line.slice(key.length + 1));
}

/** The words of a value: unquoted, unescaped, specifiers expanded. */
export function unitWords(value: string): string[] {
  const words: string[] = [];
  let at = 0;
  while (at < value.length) {
    if (value[at] === " ") at += 1;
    else if (value[at] === '"') {
      const { word, end } = quoted(value, at + 1);
      words.push(word);
      at = end;
    } else throw new Error(`a word without quotes at ${at}: ${value}`);
  }
  return words.map(expanded);
}

function quoted(value: string, from: number): { word: string; end: number } {
  const bytes: number[] = [];
  let at = from;
  while (value[at] !== '"') {
    const found = /^\\(?:x([0-9a-f]{2})|(["\\]))/.exec(value.slice(at, at + 4));
    if (value[at] === "\\" && found === null) throw new Error(`an escape that is none at ${at}: ${value}`);
    const character = found?.[2] ?? String.fromCodePoint(value.codePointAt(at) ?? 0);
    bytes.push(...(found?.[1] === undefined ? Buffer.from(character) : [Number.parseInt(found[1], 16)]));
    at += found?.[0].length ?? character.length;
    if (at >= value.length) throw new Error(`quotes without an end: ${value}`);
  }
  return { word: Buffer.from(bytes).toString(), end: at + 1 };
}

function expanded(word: string): string {
  if (/%(?!%)/.test(word.replaceAll("%%", ""))) throw new Error(`a specifier: ${word}`);
  return word.replaceAll("%%", "%");
}

/** The words of a command; its `:` keeps `$` from being expanded, so it must be there. */
export function commandWords(text: string, key: string): string[] {
  const [program = "", ...args] = unitWords(linesOf(text, key)[0] ?? "");
  if (!program.startsWith(":/")) throw new Error(`${key} is not a full path behind ":": ${program}`);
  return [program.slice(1), ...args];
}
