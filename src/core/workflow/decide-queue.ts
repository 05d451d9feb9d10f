// Decides on a map's items: pages of the list, and the dead-letter queue.
// Z1. A page that is not the next one is a repeat: it changes nothing.
import { type Refusal, refused } from "../../base/result.ts";
import { advance } from "./advance.ts";
import type { WorkflowCommand } from "./commands.ts";
import { INPUT_STEP } from "./definition.ts";
import type { Draft } from "./draft.ts";
import { eachItem, itemIn } from "./item-list.ts";
import { MAX_MESSAGE, MAX_QUEUE_AT_ONCE } from "./limits.ts";
import type { Run } from "./run.ts";

type QueueCommand = Extract<WorkflowCommand, { kind: "dlq-retry" | "dlq-clear" | "items-read" | "input-failed" }>;

export function decideQueue(draft: Draft, command: QueueCommand): Refusal | undefined {
  if (command.kind === "dlq-retry") return retry(draft, command.items);
  if (command.kind === "dlq-clear") return clear(draft, command.items);
  const { run, at } = draft;
  if (run.status.kind !== "going" || run.main.place.phase !== "map" || run.items.complete) return undefined;
  if (command.kind === "input-failed") {
    const error = { step: INPUT_STEP, message: command.reason.slice(0, MAX_MESSAGE), exit_code: null, retryable: true };
    draft.add({ event: "workflow.ended", data: { state: "failed", error, at } });
    return undefined;
  }
  if (command.from !== run.items.all.length) return undefined; // Z1
  const { from, items, last } = command;
  draft.add({ event: "workflow.items.found", data: { from, items, last, at } });
  advance(draft);
  return undefined;
}

/** The numbers of the items in the dead-letter queue. */
export function deadLetters(run: Run): number[] {
  const found: number[] = [];
  let number = 0;
  for (const { state } of eachItem(run.items.all)) {
    if (state.kind === "failed") found.push(number);
    number += 1;
  }
  return found;
}

function chosen(run: Run, items: readonly number[] | "all"): readonly number[] | Refusal {
  if (items === "all") return deadLetters(run).slice(0, MAX_QUEUE_AT_ONCE);
  const other = items.find((number) => itemIn(run.items.all, number)?.state.kind !== "failed");
  if (other === undefined) return [...new Set(items)];
  return refused("not-in-queue", `Item ${other} is not in the dead-letter queue.`, "`holdfast dlq ls` shows what is.")
    .error;
}

/** An ended run returns to its map, and then through `reduce` again: a person asked for it. */
function retry(draft: Draft, which: readonly number[] | "all"): Refusal | undefined {
  const { run, at } = draft;
  if (run.definition.flow.mode !== "mapreduce") {
    const hint = `Try a failed step again: holdfast resume ${run.id.slice(0, 8)}`;
    return refused("no-map", `${run.name} has no map, so it has no failed items.`, hint).error;
  }
  const items = chosen(run, which);
  if ("code" in items) return items;
  if (items.length === 0) return undefined;
  const isMapping = run.status.kind === "going" && run.main.place.phase === "map";
  const isOver = run.status.kind === "done" || run.status.kind === "failed" || run.status.kind === "interrupted";
  if (run.status.kind === "cancelled")
    return refused("cancelled", `${run.name} was cancelled.`, "Resume it first: --force").error;
  if (!isMapping && !isOver)
    return refused("reducing", `${run.name} is past its map and still running.`, "Try again when it has ended.").error;
  draft.add({ event: "workflow.dlq.retried", data: { items, at } });
  if (isOver) draft.add({ event: "workflow.phase.entered", data: { phase: "map", at } });
  if (isOver) draft.add({ event: "workflow.resumed", data: { at } });
  advance(draft);
  return undefined;
}

function clear(draft: Draft, which: readonly number[] | "all"): Refusal | undefined {
  const items = chosen(draft.run, which);
  if ("code" in items) return items;
  if (items.length > 0) draft.add({ event: "workflow.dlq.cleared", data: { items, at: draft.at } });
  return undefined;
}
