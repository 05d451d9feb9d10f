import { expect, test } from "bun:test";
import { terminalEventOf } from "./terminal.ts";

const stored = (event: string, data: unknown) => terminalEventOf({ session_id: "t1", event, data });

test("an event that we know comes back as it was written, with fields of a newer version", () => {
  const data: { name: string } = Object.assign({ name: "x" }, { and: "more" });
  expect(stored("terminal.renamed", data)).toEqual({ event: "terminal.renamed", id: "t1", data });
  expect(stored("terminal.removed", {})).toEqual({ event: "terminal.removed", id: "t1", data: {} });
});

test.each(["terminal.painted", "agent.created", "", "toString", "constructor", "__proto__"])(
  "an event named %j is not ours, and is ignored",
  (event) => {
    expect(stored(event, {})).toBeUndefined();
  },
);

test("a missing field throws an error that names it and its session", () => {
  expect(() => stored("terminal.started", { pid: 1, start_time: 2, boot_id: "b" })).toThrow(
    "terminal.started of t1 has no holder",
  );
  for (const data of [null, undefined, "name", []]) {
    expect(() => stored("terminal.renamed", data)).toThrow("terminal.renamed of t1 has no name");
  }
});
