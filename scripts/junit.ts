// What bun's JUnit report says about a test run.
// J1. Bun leaves a file that could not be loaded out of the report: whoever knows which files were to run must look for it.

export type Skipped = { readonly path: string; readonly name: string };

export type Report = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly Skipped[];
  /** The files that reported anything. */
  readonly files: ReadonlySet<string>;
};

const CASE = /<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g;

export function parseJunit(xml: string): Report {
  let failed = 0;
  let passed = 0;
  const skipped: Skipped[] = [];
  const files = new Set<string>();
  for (const [, attributes = "", body = ""] of xml.matchAll(CASE)) {
    const path = attribute(attributes, "file");
    files.add(path);
    if (/<(?:failure|error)\b/.test(body)) failed += 1;
    else if (body.includes("<skipped")) skipped.push({ path, name: attribute(attributes, "name") });
    else passed += 1;
  }
  return { passed, failed, skipped, files };
}

function attribute(attributes: string, name: string): string {
  const raw = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  return raw
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&apos;/g, "'")
    .replace(/&amp;/g, "&");
}

/** A test that may be skipped says in its name what it needs: so the reason is printed wherever the name is. */
export function hasReason(name: string): boolean {
  return /\(needs [^)]+\)/.test(name);
}
