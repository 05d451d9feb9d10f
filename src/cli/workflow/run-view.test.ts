import { expect, test } from "bun:test";
import type { ListedStep, ShownRetry } from "../../wire/rpc/workflow.ts";
import { StepLines } from "./run-view.ts";

const ENDED: ListedStep = { step: "work", outcome: "succeeded", durationMs: 2100, message: null };
const RETRY = { step: "work", item: null, at: "2026-01-01T00:00:00.000Z" };
const tried = (time: number) => `work: try ${time} failed, and it is tried again\n`;

/** What is said about snapshots of a run, each with the steps that ended since the last one. */
function said(old: number, ...seen: readonly { records?: ListedStep[]; retries?: ShownRetry[] }[]): string[] {
  const lines = new StepLines(old);
  let from = 0;
  return seen.map(({ records = [], retries = [] }) => {
    const text = lines.of({ from, records, retries, attempts: [] });
    from += records.length;
    return text;
  });
}

test("SG4 retries that were over before we looked are announced when their step has ended", () => {
  expect(said(0, { records: [{ ...ENDED, tries: 3 }] })).toEqual([`${tried(1)}${tried(2)}work: done (2.1 s)\n`]);
});

test("SG4 a retry is announced once, whether it is seen or recorded; the next iteration has its own", () => {
  const records = [{ ...ENDED, tries: 3 }];
  const first = { retries: [{ ...RETRY, tries: 1 }] };
  expect(said(0, first, first, { records }, first, { records })).toEqual([
    ...[tried(1), "", `${tried(2)}work: done (2.1 s)\n`],
    ...[tried(1), `${tried(2)}work: done (2.1 s)\n`],
  ]);
});

test("SG4 a step that ended earlier is one line, with the number of its tries", () => {
  expect(said(1, { records: [{ ...ENDED, tries: 2 }] })).toEqual(["earlier: work: done (2.1 s, 2 tries)\n"]);
});
