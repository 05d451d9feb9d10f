// What bun's JUnit reports say about a test run.
// J1. Bun leaves a file that could not be loaded out of its report. The caller knows which files should have run, so
//     each missing one is added here as a failure.
// J2. Tests of the same name in different groups are different tests: a test's name begins with its groups.

export type Test = { readonly path: string; readonly name: string; readonly ms: number };
export type Failed = Test & { readonly why: string };

export type Report = {
  readonly passed: readonly Test[];
  readonly failed: readonly Failed[];
  readonly skipped: readonly Test[];
  /** How long each file took, by path, for every file that reported anything. */
  readonly files: ReadonlyMap<string, number>;
};

/** The names of failures that concern a whole file: ours (J1), and bun's own. */
export const SILENT = "(the file)";
const WHOLE_FILE = new Set([SILENT, "(worker crashed)"]);

const CASE = /<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g;
const SUITE = /<testsuite\b([^>]*?)>/g;

export function parseJunit(xml: string): Report {
  const passed: Test[] = [];
  const failed: Failed[] = [];
  const skipped: Test[] = [];
  const files = new Map<string, number>();
  for (const [, attributes = ""] of xml.matchAll(SUITE)) {
    const path = attribute(attributes, "name");
    if (path === attribute(attributes, "file")) files.set(path, milliseconds(attributes));
  }
  for (const [, attributes = "", body = ""] of xml.matchAll(CASE)) {
    const test = testOf(attributes);
    const failure = /<(?:failure|error)\b([^>]*?)(?:\/>|>([\s\S]*?)<\/)/.exec(body);
    if (failure !== null) failed.push({ ...test, why: plain(failure[2] || attribute(failure[1] ?? "", "message")) });
    else if (body.includes("<skipped")) skipped.push(test);
    else passed.push(test);
  }
  return { passed, failed, skipped, files };
}

/** J1: the report of a run in which `expected` were to run. */
export function withSilent(report: Report, expected: readonly string[]): Report {
  const silent = expected.filter((path) => !report.files.has(path));
  const failures = silent.map((path) => ({ path, name: SILENT, ms: 0, why: "no test of it has run" }));
  return { ...report, failed: [...report.failed, ...failures] };
}

export function joined(reports: readonly Report[]): Report {
  return {
    passed: reports.flatMap(({ passed }) => passed),
    failed: reports.flatMap(({ failed }) => failed),
    skipped: reports.flatMap(({ skipped }) => skipped),
    files: new Map(reports.flatMap(({ files }) => [...files])),
  };
}

/** One report file of several. */
export function joinedXml(reports: readonly string[]): string {
  const suites = reports.map((xml) => /<testsuites\b[^>]*>([\s\S]*)<\/testsuites>/.exec(xml)?.[1] ?? "");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="bun test">${suites.join("")}</testsuites>\n`;
}

export function isSame(a: Test, b: Test): boolean {
  return a.path === b.path && a.name === b.name;
}

/** Whether this run shows that the test can pass; a whole file does if it reported and did not fail as a whole. */
export function hasPassed(report: Report, test: Test): boolean {
  const fails = report.failed.some((other) => isSame(other, test));
  return WHOLE_FILE.has(test.name)
    ? report.files.has(test.path) && !fails
    : report.passed.some((other) => isSame(other, test)) && !fails;
}

/** J2: bun names the groups of a test from the innermost outwards. */
function testOf(attributes: string): Test {
  const groups = attribute(attributes, "classname").split(" > ").reverse();
  const name = [...groups, attribute(attributes, "name")].filter((part) => part !== "").join(" > ");
  return { path: attribute(attributes, "file"), name, ms: milliseconds(attributes) };
}

function milliseconds(attributes: string): number {
  return Number(attribute(attributes, "time")) * 1000;
}

function attribute(attributes: string, name: string): string {
  return plain(new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
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

/** A test that may be skipped names its requirement: so the reason is printed with the name. */
export function hasReason(name: string): boolean {
  return /\(needs [^)]+\)/.test(name);
}

const SHOWN_LINES = 40;

/** A failure as it is repeated at the end of a run, for readers who see only the end. */
export function toldAgain({ path, name, why }: Failed, kind = "failed"): string {
  const lines = why.trimEnd().split("\n");
  const rest = lines.length > SHOWN_LINES ? [`(${lines.length - SHOWN_LINES} lines more)`] : [];
  const shown = [...lines.slice(0, SHOWN_LINES), ...rest].map((line) => `    ${line}`);
  return [`${kind}: ${path}: ${name}`, ...shown].join("\n");
}
