import { afterEach, expect, test } from "bun:test";
import { peerOf } from "./peer.ts";

const program = process.execPath;
afterEach(() => {
  process.execPath = program;
  delete process.env["BUN_JSC_useJIT"];
});

test("PC3 if the child that looks cannot be started, the client counts as gone, and nothing is thrown", () => {
  process.env["BUN_JSC_useJIT"] = "0"; // As in a terminal's holder.
  process.execPath = "/nowhere/bun";
  expect(peerOf(0, 0)).toBe("gone");
});
