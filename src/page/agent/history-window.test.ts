import { expect, test } from "bun:test";
import { ok } from "../../base/result.ts";
import type { AgentHistory, HistoryRow } from "../../wire/rpc/agent.ts";
import { HistoryWindow, type HistoryWish, MAX_ROWS, PAGE } from "./history-window.ts";

/** The pauses between requests, as they are to end. */
const rests: (() => void)[] = [];

/** A log with the entries 1 to `length`, one row each, which answers as the daemon does. */
function logOf(length: number) {
  const log = { length, asked: [] as HistoryWish[] };
  const row = (seq: number): HistoryRow => ({ kind: "text", text: `${seq}`, part: false, seq, at: "" });
  const ask = async (wish: HistoryWish) => {
    log.asked.push(wish);
    const { before, after, limit } = wish;
    const end =
      after === undefined ? Math.min(log.length, (before ?? Infinity) - 1) : Math.min(log.length, after + limit);
    const begin = after === undefined ? Math.max(1, end - limit + 1) : after + 1;
    const rows = Array.from({ length: Math.max(0, end - begin + 1) }, (_, at) => row(begin + at));
    const later = end < log.length && (after !== undefined || before !== undefined) ? end : null;
    const history: AgentHistory = { rows, earlier: begin > 1 ? begin : null, later, last: end };
    return ok(history);
  };
  return { log, window: new HistoryWindow({ ask, after: (_, fn) => void rests.push(fn) }) };
}

const range = ({ part }: HistoryWindow) => {
  const { rows = [], earlier, later } = part.value ?? {};
  const seqs = rows.map(({ seq }) => seq);
  for (const [at, seq] of seqs.entries()) if (at > 0) expect(seq).toBe((seqs[at - 1] ?? 0) + 1);
  return [seqs[0], seqs.at(-1), earlier, later];
};

test("it begins with the end, and what is new is added there", async () => {
  const { log, window } = logOf(10_000);
  await window.start();
  expect(range(window)).toEqual([10_001 - PAGE, 10_000, 10_001 - PAGE, null]);
  log.length = 10_003;
  window.news();
  await new Promise(setImmediate);
  expect(range(window)).toEqual([10_001 - PAGE, 10_003, 10_001 - PAGE, null]);
});

test("HW1 scrolling through 10,000 entries and back never has more rows than the limit, nor a gap", async () => {
  const { window } = logOf(10_000);
  await window.start();
  for (let pages = 0; window.part.value?.earlier !== null && pages < 400; pages += 1) {
    await window.earlier();
    expect(window.part.value?.rows.length).toBeLessThanOrEqual(MAX_ROWS);
    range(window);
  }
  expect(range(window)).toEqual([1, MAX_ROWS, null, MAX_ROWS]);
  for (let pages = 0; window.part.value?.later !== null && pages < 400; pages += 1) await window.goOn();
  expect(range(window)).toEqual([10_001 - MAX_ROWS, 10_000, 10_001 - MAX_ROWS, null]);
});

test("a place in the middle has what is before and after it, and nothing new is fetched there", async () => {
  const { log, window } = logOf(10_000);
  await window.start(5_000);
  expect(range(window)).toEqual([5_001 - PAGE, 5_000 + PAGE, 5_001 - PAGE, 5_000 + PAGE]);
  const before = log.asked.length;
  window.news();
  expect(log.asked.length).toBe(before);
});

test("HW2 at the end the new end is shown, however much has come; elsewhere the place stays", async () => {
  const { log, window } = logOf(50);
  await window.start();
  log.length = 5_000;
  window.news();
  await new Promise(setImmediate);
  expect(range(window)).toEqual([5_001 - PAGE, 5_000, 5_001 - PAGE, null]);
  for (const end of rests.splice(0)) end();
  window.isFollowing = false;
  log.length = 9_000;
  window.news();
  await new Promise(setImmediate);
  expect(range(window)).toEqual([5_001 - PAGE, 5_000 + PAGE, 5_001 - PAGE, 5_000 + PAGE]);
});

test("a person who goes to the end while earlier rows are on their way gets there", async () => {
  const { window } = logOf(10_000);
  await window.start(5_000);
  await Promise.all([window.earlier(), window.start()]);
  expect(range(window)).toEqual([10_001 - PAGE, 10_000, 10_001 - PAGE, null]);
});

test("HW2 a storm of news is two requests, and the last of it is there", async () => {
  const { log, window } = logOf(50);
  await window.start();
  const before = log.asked.length;
  for (; log.length < 80; log.length += 1) window.news();
  await new Promise(setImmediate);
  expect(log.asked.length - before).toBe(1);
  for (const end of rests.splice(0)) end();
  await new Promise(setImmediate);
  expect([log.asked.length - before, range(window)]).toEqual([2, [1, 80, null, null]]);
});
