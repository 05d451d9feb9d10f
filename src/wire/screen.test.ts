// The messages between the daemon and the screen program.
import { expect, test } from "bun:test";
import { parseAnswer } from "./answer-line.ts";
import { answerOf, parseScreenRequest } from "./screen.ts";

const size = { cols: 80, rows: 24 };
const from = { offset: 3, ...size, vt: "x", exact: true, at: "2026-01-01T00:00:00.000Z", title: "", alternate: false };
const place = { n: 1, directory: "/t", size };

test("a request is read with its own fields and no others", () => {
  const asked = (fields: object) => parseScreenRequest({ ...place, ...fields });
  expect(asked({ op: "snapshot", maxBytes: 5, more: 1 })?.request).toEqual({
    ok: true,
    value: { op: "snapshot", directory: "/t", size, maxBytes: 5 },
  });
  expect(asked({ op: "farewell", message: "m", from })?.request).toMatchObject({
    ok: true,
    value: { from, message: "m" },
  });
  expect(asked({ op: "cells" })?.request.ok).toBe(true);
  expect(asked({ op: "past", until: 7, maxBytes: 0 })?.request).toMatchObject({
    ok: true,
    value: { until: 7, maxBytes: 0 },
  });
  expect(asked({ op: "index", after: 9 })?.request).toMatchObject({ ok: true, value: { op: "index", after: 9 } });
});

test("an incomplete request is refused; without a number it is ignored", () => {
  const bad = [
    { op: "snapshot" },
    { op: "snapshot", maxBytes: -1 },
    { op: "farewell" },
    { op: "past", until: 7 },
    { op: "past", maxBytes: 0 },
    { op: "index" },
    { op: "dance" },
    { op: "cells", size: { cols: 0, rows: 1 } },
    { op: "cells", size: { cols: 70_000, rows: 1 } },
    { op: "cells", directory: 5 },
    { op: "cells", from: { ...from, vt: 1 } },
    { op: "cells", from: null },
  ];
  for (const fields of bad) {
    expect({ fields, ok: parseScreenRequest({ ...place, ...fields })?.request.ok }).toEqual({ fields, ok: false });
  }
  expect(parseScreenRequest({ op: "cells" })).toBeUndefined();
});

test("answers are a value or a refusal by number", () => {
  const error = { code: "c", message: "m", hint: "h" };
  expect(parseAnswer({ n: 2, ok: true, value: "v" })).toEqual({ n: 2, answer: { ok: true, value: "v" } });
  expect(parseAnswer({ n: 2, ok: false, error })).toEqual({ n: 2, answer: { ok: false, error } });
  expect(parseAnswer({ n: 2, ok: false, error: { code: "c" } })).toBeUndefined();
  expect(parseAnswer({ ok: true })).toBeUndefined();
  expect(answerOf("farewell", { ok: true, value: "v" })).toEqual({ ok: true, value: "v" });
});
