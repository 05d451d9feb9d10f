// Which processes belong to agents and steps, on process tables.
import { expect, test } from "bun:test";
import type { Listed } from "../family.ts";
import { type ProgramTable, programsOf } from "./programs.ts";

/** `pid ppid session`; the start time is the pid. */
function table(...lines: readonly string[]): Listed[] {
  return lines.map((line) => {
    const [pid = 0, ppid = 0, session = 0] = line.split(" ").map(Number);
    return { pid, ppid, session, startTime: pid };
  });
}

function found(processes: Listed[], more: Partial<Record<"marked" | "holders" | "spared", readonly number[]>>) {
  const sets: Omit<ProgramTable, "processes"> = {
    ...{ marked: new Set(more.marked), holders: new Set(more.holders), spared: new Set(more.spared) },
  };
  return programsOf({ processes, ...sets }).map(({ pid }) => pid);
}

/** A daemon 10, an agent's holder 20, its program 21 with a tool 22, and a terminal 30 with a shell 31. */
const HOME = ["1 0 1", "10 1 10", "20 10 20", "21 20 20", "22 21 20", "30 10 30", "31 30 31"] as const;

test("PR1 all below a holder, parents first, and neither the holder nor a terminal", () => {
  expect(found(table(...HOME), { holders: [20] })).toEqual([21, 22]);
  expect(found(table("22 21 20", ...HOME.slice(0, 4)), { holders: [20] })).toEqual([21, 22]);
  expect(found(table(...HOME), {})).toEqual([]);
});

function pids(...found: readonly number[]): number[] {
  return found.toSorted((one, other) => one - other);
}

test("PR1 a child that lost its parent is found by the session, by its own marker, or below one that is", () => {
  const lost = [...HOME, "40 1 20", "50 1 50", "51 50 50", "60 1 60"];
  expect(pids(...found(table(...lost), { holders: [20] }))).toEqual([21, 22, 40]);
  expect(pids(...found(table(...lost), { holders: [20], marked: [50] }))).toEqual([21, 22, 40, 50, 51]);
});

test("PR1 a session that one of them leads belongs to it", () => {
  const led = [...HOME, "23 22 23", "24 1 23"];
  expect(pids(...found(table(...led), { holders: [20] }))).toEqual([21, 22, 23, 24]);
});

test("PR1 the marker is enough when the holder is dead", () => {
  const without = HOME.filter((line) => !line.startsWith("20 ")).map((line) => line.replace("21 20 20", "21 1 20"));
  expect(found(table(...without), { marked: [21] })).toEqual([21, 22]);
});

test("PR2 a program that looks like a holder is one only if it is below none", () => {
  expect(found(table(...HOME, "25 21 25", "26 25 25"), { holders: [20, 25] })).toEqual([21, 22, 25, 26]);
  expect(pids(...found(table(...HOME, "25 1 25"), { holders: [20, 25], marked: [25] }))).toEqual([21, 22, 25]);
});

test("PR3 our own programs are never among them", () => {
  expect(found(table(...HOME, "27 21 27"), { holders: [20], spared: [27] })).toEqual([21, 22]);
});

test("a parent that is younger than its child proves nothing: its number was used again", () => {
  const reused = [...table("20 10 20"), { pid: 15, ppid: 20, session: 15, startTime: 15 }];
  expect(found(reused, { holders: [20] })).toEqual([]);
});
