import { expect, test } from "bun:test";
import { Fault, isFault } from "./fault.ts";

const full = new Fault({ code: "ENOSPC", operation: "write", path: "wal/1" }, new Error("no space"));

test("a fault names the operation, the path and the system's error code, and keeps its cause", () => {
  expect(full.message).toBe("write wal/1: ENOSPC");
  expect([full.code, full.operation, full.path]).toEqual(["ENOSPC", "write", "wal/1"]);
  expect(full.cause).toEqual(new Error("no space"));
});

test("the hint is the given one, else the one for the code, else the general one", () => {
  const facts = { operation: "open", path: "x" };
  expect(new Fault({ ...facts, code: "EIO", hint: "Ask Ann." }).hint).toBe("Ask Ann.");
  expect(full.hint).toContain("The disk is full");
  expect(new Fault({ ...facts, code: "EWEIRD" }).hint).toContain("holdfast log verify");
});

test("isFault recognises faults, optionally by code", () => {
  expect(isFault(full)).toBe(true);
  expect(isFault(full, "EIO", "ENOSPC")).toBe(true);
  expect(isFault(full, "EIO")).toBe(false);
  expect(isFault(new Error("ENOSPC"))).toBe(false);
  expect(isFault(undefined)).toBe(false);
});
