// Claims about what requests may hold.
import { expect, test } from "bun:test";
import { askerOf, paramsOf } from "./params.ts";

const ID = "0123456789ab4def89abcdef01234567";
const RUN = { id: ID, path: "/w.yml", cwd: "/", texts: {}, values: { deep: [{ a: 1 }] }, env: {} };

function wrong(method: Parameters<typeof paramsOf>[0], given: unknown): string {
  const found = paramsOf(method, given);
  return found.ok ? "" : found.error.message.replace(`The request ${method} is malformed: `, "");
}

test("a request that fits is passed on as it came", () => {
  expect(paramsOf("workflow.run", RUN)).toEqual({ ok: true, value: RUN });
  expect(paramsOf("status", { newer: 1 }).ok).toBe(true);
});

test("a request that does not fit is refused with every wrong field and what it takes", () => {
  expect(wrong("workflow.run", { ...RUN, id: "x", path: "w.yml", env: { A: 1 } })).toBe(
    'id is "x"; it takes an id of 32 hex digits; path is "w.yml"; it takes a full path; env.A is 1; it takes a text.',
  );
  expect(wrong("terminal.policy", { id: "t", policy: "maybe" })).toBe(
    'policy is "maybe"; it takes one of "auto", "ask", "never".',
  );
  expect(wrong("dlq.retry", { id: "r", items: [1, 1.5] })).toBe("items.2 is 1.5; it takes a whole number from 0 on.");
});

test("RP1 very many wrong fields, and very long names, are not listed", () => {
  const given = { name: "x", lane: "x", argv: Array(200_000).fill(null), cwd: "/", env: { ["x".repeat(500_000)]: 1 } };
  expect(wrong("terminal.new", given)).toEndWith("it takes a text; and 199983 more.");
  expect(wrong("terminal.new", { ...given, argv: [] }).length).toBeLessThan(5_000);
});

test("settings of an agent may be left out, but unknown ones are refused", () => {
  expect(wrong("agent.set", { id: "a", settings: { sleep_on_limit: true } })).toBe("");
  expect(wrong("agent.set", { id: "a", settings: { hung_after_ms: 999, constructor: 1 } })).toBe(
    "there is no field settings.constructor; settings.hung_after_ms is 999; it takes a whole number from 1000 on.",
  );
});

test("the sender of a request is reduced to three fields, with a name of bounded length", () => {
  const asker = { wish: ID, pid: 7, user: "u".repeat(100), at: "then" };
  expect(askerOf(asker)).toEqual({ wish: ID, pid: 7, user: "u".repeat(64) });
  expect([askerOf({ ...asker, wish: "x" }), askerOf(undefined)]).toEqual([undefined, undefined]);
});
