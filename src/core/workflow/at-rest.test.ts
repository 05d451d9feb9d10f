import { expect, test } from "bun:test";
import { atRest } from "./at-rest.ts";
import type { Run } from "./run.ts";

const AT = "2026-01-01T00:00:00.000Z";

function run(id: string, status: Run["status"]["kind"], rest: Partial<Run> = {}): Run {
  const main = { attempt: undefined };
  const base = {
    id,
    name: "flow",
    createdAt: AT,
    removed: false,
    status: { kind: status, at: AT },
    main,
    active: new Map(),
  };
  return { ...base, ...rest } as unknown as Run;
}

const idsOf = (runs: readonly Run[]) => atRest(runs).map(({ id }) => id);

test("RE1 a run that has ended is at rest; one that is open, or has an attempt, is not", () => {
  const attempt = { main: { attempt: { id: "x.1" } } } as unknown as Partial<Run>;
  const ended = (["done", "cancelled", "interrupted"] as const).map((kind) => run(kind, kind));
  expect(idsOf([...ended, run("going", "going"), run("closing", "closing")])).toEqual([
    "done",
    "cancelled",
    "interrupted",
  ]);
  expect(idsOf([run("uncertain", "cancelled", attempt)])).toEqual([]);
  expect(idsOf([run("removed", "failed", { removed: true })])).toEqual(["removed"]);
});

test("RE2 a failed run waits for a person until a newer run of the same workflow exists", () => {
  const later = { createdAt: "2026-01-02T00:00:00.000Z" };
  expect(idsOf([run("failed", "failed")])).toEqual([]);
  expect(idsOf([run("failed", "failed"), run("other", "going", { name: "other", ...later })])).toEqual([]);
  expect(idsOf([run("failed", "failed"), run("next", "going", later)])).toEqual(["failed"]);
  expect(idsOf([run("failed", "failed"), run("next", "failed", { removed: true, ...later })])).toEqual(["next"]);
});
