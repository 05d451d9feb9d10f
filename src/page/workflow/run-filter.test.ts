import { expect, test } from "bun:test";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { EVERYTHING, runPage } from "./run-filter.ts";

const run = (id: string, startedAt: string) => ({ id, startedAt }) as ListedRun;
const NOW = Date.parse("2026-01-02T00:00:00.000Z");
const [YOUNG, OLD] = [run("b", "2026-01-01T23:30:00.000Z"), run("a", "2025-06-01T00:00:00.000Z")];

/** A daemon with these pages, and what it was asked for. */
function daemonWith(...pages: readonly (readonly ListedRun[])[]) {
  const asked: object[] = [];
  const call = async (_: string, params: object) => {
    asked.push(params);
    const next = asked.length < pages.length ? `l ${asked.length}` : null;
    return { ok: true, value: { rows: pages[asked.length - 1] ?? [], next } } as const;
  };
  return { asked, call };
}

test("state and name are chosen by the daemon, newest first, a page at a time", async () => {
  const daemon = daemonWith([YOUNG]);
  const found = await runPage(daemon, { state: "failed", name: " dep", time: "any time" }, "l 7", NOW);
  expect(found).toEqual({ ok: true, value: { runs: [YOUNG], next: null } });
  expect(daemon.asked).toEqual([
    { newest: true, limit: 50, after: "l 7", state: ["failed", "done_with_failures"], starts: "dep" },
  ]);
});

test("an empty page of a filter is passed over, and the next one has the rows", async () => {
  const daemon = daemonWith([], [YOUNG, OLD]);
  const found = await runPage(daemon, EVERYTHING, undefined, NOW);
  expect(found).toEqual({ ok: true, value: { runs: [YOUNG, OLD], next: null } });
});

test("RF1 runs that began earlier are left out, and a page without younger ones is the last", async () => {
  const hour = { ...EVERYTHING, time: "the last hour" };
  const full = Array.from({ length: 50 }, () => OLD);
  expect(await runPage(daemonWith([YOUNG, OLD]), hour, undefined, NOW)).toMatchObject({ value: { runs: [YOUNG] } });
  const old = await runPage(daemonWith(full, full), hour, undefined, NOW);
  expect(old).toEqual({ ok: true, value: { runs: [], next: null } });
});
