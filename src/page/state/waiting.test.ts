import { expect, test } from "bun:test";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { listsFor } from "../../wire/rpc/topics.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { failedRuns, openPrompts, uncertainOf, withFailedItems } from "./waiting.ts";

const RUN: ListedRun = {
  ...{ id: "r", name: "deploy", path: "", cwd: "", repo: "", worktree: null, state: "done", step: 1, steps: 1 },
  ...{ startedAt: "", at: null, iteration: 1, items: null, needs: [], error: null, resumed: null, ended: 1 },
};
const ITEMS = { total: 4, active: 0, succeeded: 3, failed: 1, complete: true, mayFail: true };

test("WA1 a failed run waits until there is a newer one of its workflow", () => {
  const failed: ListedRun = { ...RUN, id: "old", state: "failed" };
  expect(failedRuns([failed])).toEqual([failed]);
  expect(failedRuns([RUN, failed])).toEqual([]);
  expect(failedRuns([{ ...RUN, name: "other" }, failed])).toEqual([failed]);
});

test("WA1 failed items wait, unless their run failed as a whole or was given up", () => {
  const run: ListedRun = { ...RUN, items: ITEMS, state: "done_with_failures" };
  expect(withFailedItems([run])).toEqual([run]);
  expect(withFailedItems([{ ...run, state: "failed" }])).toEqual([]);
  expect(withFailedItems([{ ...run, state: "cancelled" }])).toEqual([]);
});

test("an attempt that waits for an agent's prompt is shown by the prompt, the longest waiting first", () => {
  const need = { attempt: "a", step: "s", why: "w", agent: null, prompt: null };
  const run = { ...RUN, needs: [need, { ...need, agent: "ann" }] };
  expect(uncertainOf([run])).toEqual([{ run, need }]);
  const prompt = (id: string, since: string, state: ListedPrompt["state"] = "open"): ListedPrompt => ({
    ...{ id, agent: "a", name: "ann", tool: "Bash", input: {}, since, deadline: "", state, stage: "Pending" },
  });
  const all = [prompt("late", "2"), prompt("early", "1"), prompt("over", "0", "stale")];
  expect(openPrompts(all).map(({ id }) => id)).toEqual(["early", "late"]);
});

test("a notice changes the lists that it is about; an agent's events have many names", () => {
  expect(listsFor("terminal.created")).toContain("terminals");
  expect(listsFor("workflow.step.ended")).toContain("runs");
  expect(listsFor("tunnel.changed")).toEqual(["tunnel"]);
  expect(listsFor("recovery.progress")).toEqual(["status"]);
  expect(listsFor("recovery.stage.changed")).toContain("prompts");
  for (const topic of ["prompt.opened", "turn.start", "agent.created"]) expect(listsFor(topic)).toContain("prompts");
});
