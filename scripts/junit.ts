// What bun's JUnit report says about a test run.
// J1. Bun leaves a file that could not be loaded out of the report: whoever knows which files were to run must look for it.

export type Skipped = { readonly path: string; readonly name: string };
export type Failed = Skipped & { readonly why: string };

export type Report = {
  readonly passed: number;
  readonly failed: readonly Failed[];
  readonly skipped: readonly Skipped[];
  /** The files that reported anything. */
  readonly files: ReadonlySet<string>;
};

const CASE = /<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g;

export function parseJunit(xml: string): Report {
  let passed = 0;
  const failed: Failed[] = [];
  const skipped: Skipped[] = [];
  const files = new Set<string>();
  for (const [, attributes = "", body = ""] of xml.matchAll(CASE)) {
    const path = attribute(attributes, "file");
    files.add(path);
    const name = attribute(attributes, "name");
    const failure = /<(?:failure|error)\b([^>]*?)(?:\/>|>([\s\S]*?)<\/)/.exec(body);
    if (failure !== null) failed.push({ path, name, why: plain(failure[2] || attribute(failure[1] ?? "", "message")) });
    else if (body.includes("<skipped")) skipped.push({ path, name });
    else passed += 1;
  }
  return { passed, failed, skipped, files };
}

function attribute(attributes: string, name: string): string {
  return plain(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
}

function plain(raw: string): string {
  return raw
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
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

const SHOWN_LINES = 40;

/** A failure as it is told again at the end of a run, where whoever reads only the end finds it. */
export function toldAgain({ path, name, why }: Failed): string {
  const lines = why.trimEnd().split("\n");
  const rest = lines.length > SHOWN_LINES ? [`(${lines.length - SHOWN_LINES} lines more)`] : [];
  return [`failed: ${path}: ${name}`, ...[...lines.slice(0, SHOWN_LINES), ...rest].map((line) => `    ${line}`)].join(
    "\n",
  );
}
