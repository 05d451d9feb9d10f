// The claims a test file makes: the names of its tests and groups, read from its text without running it.

/** Two capitals, a dash and a number, as in requirements.md; not the end of a longer word (SHA-256). */
const REQUIREMENT = /(?<![A-Za-z0-9-])[A-Z]{2}-\d+(?![\w-])/g;

/** `test("…"`, `it.each([…])("…"`, `describe.skipIf(x())("…"`; not `/x/.test("…")`. One level of nested brackets is enough. */
const NAMED = /(?<![.\w])(?:test|it|describe)(?:\.\w+)*(?:\((?:[^()]|\([^()]*\))*\))?\(\s*(["'`])((?:\\.|(?!\1).)*)\1/g;

export function testNames(text: string): string[] {
  return [...text.matchAll(NAMED)].map((match) => (match[2] ?? "").replace(/\\(.)/g, "$1"));
}

export function requirementsIn(name: string): string[] {
  return name.match(REQUIREMENT) ?? [];
}
