// Expectations shared by the tests of the command line.
import { expect } from "bun:test";
import type { Ended } from "./homes.ts";

/** An error: its exit code, its message, a hint, and no data. */
export function rejects(ended: Ended, code: number, message: string): void {
  expect(ended.err).toStartWith("holdfast: ");
  expect(ended.err).toContain(message);
  expect(ended.err).toMatch(/\n {2}→ \S.*\n$/);
  expect({ code: ended.code, out: ended.out }).toEqual({ code, out: "" });
}
