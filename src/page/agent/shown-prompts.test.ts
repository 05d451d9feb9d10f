import { expect, test } from "bun:test";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { shownAfter } from "./shown-prompts.ts";

function prompt(id: string): ListedPrompt {
  const when = { since: `2026-11-18T0${id}:00:00.000Z`, deadline: "" };
  return { id, agent: "a", name: "ann", tool: "Bash", input: {}, ...when, state: "open", stage: "Pending" };
}

test("SP1 a prompt that is closed keeps its place among the others, and one that comes is the last", () => {
  const [one, two, three] = [prompt("1"), prompt("2"), prompt("3")];
  const first = shownAfter([], [two, one]);
  expect(first.map(({ prompt: { id }, isOpen }) => [id, isOpen])).toEqual([
    ["1", true],
    ["2", true],
  ]);
  const second = shownAfter(first, [three, two]);
  expect(second.map(({ prompt: { id }, isOpen }) => [id, isOpen])).toEqual([
    ["1", false],
    ["2", true],
    ["3", true],
  ]);
});
