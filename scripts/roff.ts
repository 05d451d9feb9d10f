// What a manual page is written in: text with the macros of man(7).
// RO1. Any text is safe: nothing of it is taken for a request or an escape, and it is ASCII.

/** A word or two, and what it means. */
export type Entry = readonly [words: string, text: string];

/** Letters that roff would set as others, so that what is copied from the page would not work. */
const NAMED: Readonly<Record<string, string>> = {
  ...{ "\\": "\\e", "-": "\\-", "'": "\\[aq]", "`": "\\[ga]", "^": "\\[ha]", "~": "\\[ti]" },
};

/** RO1. Text inside of a line. */
export function literal(text: string): string {
  return text
    .replaceAll(/[\\\-'`^~]/g, (letter) => NAMED[letter] ?? letter)
    .replaceAll(
      /\P{ASCII}/gu,
      (letter) => `\\[u${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`,
    );
}

/** RO1. Text that is a line of its own. */
export function plain(text: string): string {
  const safe = literal(text);
  return safe.startsWith(".") ? `\\&${safe}` : safe;
}

export function bold(text: string): string {
  return `.B ${literal(text)}`;
}

/** A line of help ends here or beyond, unless the next one is meant to begin at the left edge. */
const FULL = 100;

/** Paragraphs, with an empty line between them. */
export function prose(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.map((line, at) => (line === "" ? ".PP" : plain(line) + endOf(line, lines[at + 1] ?? ""))).join("\n");
}

function endOf(line: string, next: string): string {
  const [word = ""] = next.split(" ");
  return word !== "" && line.length + 1 + word.length <= FULL ? "\n.br" : "";
}

export function entries(all: readonly Entry[]): string {
  return all.map(([words, text]) => `.TP\n${bold(words)}\n${plain(text)}`).join("\n");
}

export function section(title: string, parts: readonly string[]): string {
  return [`.SH ${title}`, ...parts.filter((part) => part !== "")].join("\n");
}
