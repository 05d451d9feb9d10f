import { expect, test } from "bun:test";
import type { ListedStep, ShownRetry } from "../../wire/rpc/workflow.ts";
import { ItemLines, StepLines } from "./run-view.ts";

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

const MAP = { total: 5_000, active: 1, succeeded: 0, failed: 0, complete: true, mayFail: false };
const at = (ended: number, failed = 0) => ({ ...MAP, succeeded: ended - failed, failed });

test("SG5 thousands of items are at most a dozen lines; failures are counted, and the end is there", () => {
  const lines = new ItemLines(false);
  const snapshots = Array.from({ length: 5_001 }, (_, ended) => at(ended, Math.floor(ended / 1_000)));
  const all = snapshots.map((items) => lines.of({ items, state: "running" }, 0)).filter((line) => line !== "");
  expect([all[0], all[2], all.at(-1), all.length]).toEqual([
    ...["map: 0/5000 items\n", "map: 1000/5000 items, 1 failed\n", "map: 5000/5000 items, 5 failed\n", 11],
  ]);
  expect(lines.of({ items: at(5_000, 5), state: "done_with_failures" }, 0)).toBe("");
});

test("SG5 beside live lines only the end is counted", () => {
  const lines = new ItemLines(true);
  const said = [0, 2_500, 5_000, 5_000].map((ended) => lines.of({ items: at(ended, 0), state: "running" }, 60_000));
  expect(said).toEqual(["", "", "map: 5000/5000 items\n", ""]);
  expect(new ItemLines(true).of({ items: at(3), state: "failed" }, 0)).toBe("map: 3/5000 items\n");
});

test("SG5 slow items are counted every half a minute, and once more if the run stops; without a map nothing is", () => {
  const lines = new ItemLines(false);
  const said = (ended: number, now: number, state: "running" | "failed" = "running") =>
    lines.of({ items: at(ended), state }, now);
  expect(said(0, 0)).toBe("map: 0/5000 items\n");
  expect([said(3, 29_999), said(0, 30_000), said(4, 30_000), said(5, 31_000)]).toEqual([
    ...["", "", "map: 4/5000 items\n", ""],
  ]);
  expect([said(5, 31_000, "failed"), said(5, 90_000, "failed")]).toEqual(["map: 5/5000 items\n", ""]);
  const unknown = { ...MAP, complete: false };
  expect(new ItemLines(false).of({ items: unknown, state: "running" }, 0)).toBe("");
  expect(new ItemLines(false).of({ items: null, state: "running" }, 0)).toBe("");
});
