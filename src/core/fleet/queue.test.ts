// What a claimer makes of its items, and which labels there are.
import { expect, test } from "bun:test";
import { placesLeft, wantedLabels, workOf } from "./queue.ts";

test("FQ1 an item is made if there is nothing with its id, and over when nothing of it will happen any more", () => {
  const kinds: readonly (string | undefined)[] = [
    undefined,
    "running",
    "uncertain",
    "interrupted",
    "queued",
    "suspended",
    "crashed",
    "constructor",
  ];
  const [absent, ...others] = kinds.map((state): string => workOf(state).kind);
  expect([absent, ...new Set(others)]).toEqual(["absent", "working"]);
  const ends = ["done", "done_with_failures", "failed", "cancelled", "terminated"].map(workOf);
  const found = ends.map((work): string => (work.kind === "over" ? work.end : work.kind));
  expect(found).toEqual(["done", "done", "failed", "failed", "done"]);
});

test("labels are words, each once; anything else is refused", () => {
  expect(wantedLabels(["gpu", "arch=arm64", "gpu"])).toEqual({ ok: true, value: ["arch=arm64", "gpu"] });
  expect(wantedLabels([])).toEqual({ ok: true, value: [] });
  for (const wrong of ["", "a b", "a\nb", "-x", "x".repeat(65)])
    expect(wantedLabels([wrong])).toMatchObject({ ok: false, error: { code: "usage" } });
  const many = Array.from({ length: 17 }, (_, at) => `l${at}`);
  expect([wantedLabels(many).ok, wantedLabels(many.slice(1)).ok]).toEqual([false, true]);
});

test("FQ2 a host takes as many as it has places, and none if it has fewer than it works on", () => {
  expect([placesLeft(0, 0), placesLeft(3, 1), placesLeft(2, 5)]).toEqual([0, 2, 0]);
});
