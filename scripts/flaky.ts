// The tests that may fail now and then without failing CI: tests/flaky.tsv, one per line: file, test, reason, expiry
// date.
// F1. A row is an exception for a short time: it expires after at most 14 days, and an expired row is a failure.
// F2. A row that cannot be read, or whose test does not exist, is a failure too: the list never grows by accident.
import type { Report } from "./junit.ts";

export const FLAKY_LIST = "tests/flaky.tsv";
const HEADER = "file\ttest\treason\texpires";
const MAX_DAYS = 14;
const DAY_MS = 86_400_000;

export type FlakyRow = {
  readonly line: number;
  readonly path: string;
  readonly name: string;
  readonly reason: string;
  readonly expires: string;
};
export type FlakyList = { readonly rows: readonly FlakyRow[]; readonly problems: readonly string[] };

/** `today` is a date such as 2026-01-31, in UTC like the dates of the list. */
export function readFlaky(text: string, today: string): FlakyList {
  const [header, ...lines] = text.trimEnd().split("\n");
  const read = lines.map((line, at) => readRow(line, at + 2, today));
  return {
    rows: read.filter((row) => typeof row !== "string"),
    problems: [
      ...(header === HEADER ? [] : [`${FLAKY_LIST}:1: is not the header "${HEADER}"`]),
      ...read.filter((row) => typeof row === "string"),
    ],
  };
}

/** A row, or what is wrong with it. */
function readRow(text: string, line: number, today: string): FlakyRow | string {
  const [path = "", name = "", reason = "", expires = "", ...more] = text.split("\t");
  const where = `${FLAKY_LIST}:${line}:`;
  const complete = [path, name, reason].every((part) => part.trim() !== "") && more.length === 0;
  if (!complete || !isDate(expires)) return `${where} is not "file, test, reason, YYYY-MM-DD" separated by tabs`; // F2
  const days = (Date.parse(expires) - Date.parse(today)) / DAY_MS;
  if (days < 0) return `${where} expired on ${expires}: ${path}: ${name}`; // F1
  if (days > MAX_DAYS) return `${where} expires later than ${MAX_DAYS} days from now: ${path}: ${name}`; // F1
  return { line, path, name, reason, expires };
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(text).toJSON()?.slice(0, 10) === text;
}

/** F2: rows without a test. Of a file that did not run this time only its existence is checked. */
export function rowsWithoutTest(rows: readonly FlakyRow[], report: Report, paths: readonly string[]): string[] {
  const tests = [...report.passed, ...report.failed, ...report.skipped];
  const isMissing = (row: FlakyRow): boolean =>
    !paths.includes(row.path) ||
    (report.files.has(row.path) && !tests.some((test) => test.path === row.path && test.name === row.name));
  return rows.filter(isMissing).map(({ line, path, name }) => `${FLAKY_LIST}:${line}: no such test: ${path}: ${name}`);
}
