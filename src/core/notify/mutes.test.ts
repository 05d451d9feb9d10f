// Agents and lanes that call nobody.
import { expect, test } from "bun:test";
import { agentsOf, type Mute, mutedAfter, muteOf, mutesOf } from "./mutes.ts";

const PARENTS: Readonly<Record<string, string>> = { child: "parent", grandchild: "child", loop: "pool", pool: "loop" };
const parentOf = (agent: string) => PARENTS[agent] ?? null;
const agent = (key: string, until: string | null = null): Mute => ({ of: "agent", key, until });
const lane = (key: string, until: string | null = null): Mute => ({ of: "lane", key, until });
const all: Mute = { of: "all", key: "", until: null };

test("MU1 an agent is muted with all that it starts, and nobody else; a loop ends", () => {
  const ids = ["parent", "child", "grandchild", "other"];
  expect(ids.map((id) => muteOf([agent("parent")], { id }, parentOf) !== undefined)).toEqual([
    ...[true, true, true, false],
  ]);
  expect(muteOf([agent("child")], { id: "parent" }, parentOf)).toBeUndefined();
  expect(agentsOf("loop", parentOf)).toEqual(["loop", "pool"]);
  expect(agentsOf(null, parentOf)).toEqual([]);
});

test("MU3 a lane is muted with the agents in it, main with those that nobody put anywhere, and all with everyone", () => {
  expect(muteOf([lane("night")], { id: "a", lane: "night" }, parentOf)).toEqual(lane("night"));
  expect(muteOf([lane("night")], { id: "night", lane: "day" }, parentOf)).toBeUndefined();
  expect(muteOf([lane("main")], { id: "a" }, parentOf)).toEqual(lane("main"));
  expect(muteOf([agent("main")], { id: "a" }, parentOf)).toBeUndefined();
  expect(muteOf([all], { id: "a", lane: "day" }, parentOf)).toEqual(all);
});

test("MU2 a choice is made once, replaced, taken back, bounded, and goes with its agent or its time", () => {
  const one = mutedAfter([], agent("a"), true);
  expect(one).toEqual([agent("a")]);
  expect(mutedAfter(one, agent("a"), true)).toBe(one);
  expect(mutedAfter(one, lane("a"), false)).toBe(one);
  expect(mutedAfter(one, agent("a", "2026-01-01T00:00:00Z"), true)).toEqual([agent("a", "2026-01-01T00:00:00Z")]);
  expect(mutedAfter(one, agent("a", "2026-01-01T00:00:00Z"), false)).toEqual([]);
  const ids = Array.from({ length: 300 }, (_, at) => String(at));
  const many = ids.reduce((before, id) => mutedAfter(before, agent(id), true), one);
  expect([many.length, many.at(-1)]).toEqual([256, agent("299")]);
  expect(mutesOf(one, 0, () => true)).toBe(one);
  expect(mutesOf([agent("a"), agent("b"), lane("a")], 0, (id) => id === "b")).toEqual([agent("b"), lane("a")]);
  const timed = [lane("x", "1970-01-01T00:00:01.000Z")];
  expect([mutesOf(timed, 999, () => true), mutesOf(timed, 1_000, () => true)]).toEqual([timed, []]);
});
