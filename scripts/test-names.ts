// The claims a test file makes: the names of its tests and groups, read from its text without running it.

/**
 * Two capitals, a dash and a number, then the clauses: `WD-3`, `UC-3a`, `UC-3(a,b)`; not the end of a longer word
 * (SHA-256).
 */
const REQUIREMENT = /(?<![A-Za-z0-9-])([A-Z]{2}-\d+)(?:([a-z])|\(([a-z](?:,[a-z])*)\))?(?![\w-])/g;

/**
 * `test("…"`, `it.each([…])("…"`, `describe.skipIf(x())("…"`; not `/x/.test("…")`. One level of nested brackets is
 * enough.
 */
const NAMED = /(?<![.\w])(?:test|it|describe)(?:\.\w+)*(?:\((?:[^()]|\([^()]*\))*\))?\(\s*(["'`])((?:\\.|(?!\1).)*)\1/g;

export function testNames(text: string): string[] {
  return [...text.matchAll(NAMED)].map((match) => (match[2] ?? "").replace(/\\(.)/g, "$1"));
}

/** The clauses that a name claims: `UC-3(a,b)` is `UC-3a` and `UC-3b`. */
export function requirementsIn(name: string): string[] {
  return [...name.matchAll(REQUIREMENT)].flatMap(([, row = "", letter = "", letters = letter]) =>
    letters.split(",").map((clause) => `${row}${clause}`),
  );
}
