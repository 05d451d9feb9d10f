// Agents that call nobody.
import { expect, test } from "bun:test";
import { agentsOf, isMuted, mutedAfter, mutesOf } from "./mutes.ts";

const PARENTS: Readonly<Record<string, string>> = { child: "parent", grandchild: "child", loop: "pool", pool: "loop" };
const parentOf = (agent: string) => PARENTS[agent] ?? null;

test("MU1 an agent is muted with all that it starts, and nobody else; a loop ends", () => {
  expect(["parent", "child", "grandchild", "other"].map((agent) => isMuted(["parent"], agent, parentOf))).toEqual([
    ...[true, true, true, false],
  ]);
  expect(isMuted(["child"], "parent", parentOf)).toBe(false);
  expect(agentsOf("loop", parentOf)).toEqual(["loop", "pool"]);
  expect(agentsOf(null, parentOf)).toEqual([]);
});

test("MU2 a choice is made once, taken back, bounded, and goes with its agent", () => {
  const one = mutedAfter([], "a", true);
  expect(one).toEqual(["a"]);
  expect(mutedAfter(one, "a", true)).toBe(one);
  expect(mutedAfter(one, "a", false)).toEqual([]);
  const many = Array.from({ length: 300 }, (_, at) => String(at)).reduce((all, id) => mutedAfter(all, id, true), one);
  expect([many.length, many.at(-1)]).toEqual([256, "299"]);
  expect(mutesOf(one, () => true)).toBe(one);
  expect(mutesOf(["a", "b"], (agent) => agent === "b")).toEqual(["b"]);
});
