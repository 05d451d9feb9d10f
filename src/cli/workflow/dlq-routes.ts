// The dead-letter queue commands: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, described, flag, home, text, wholeNumber } from "../flags.ts";
import type { DlqFlags } from "./dlq.ts";
import { ROW, workflow } from "./words.ts";

const LETTER = "{item, value, tries, step, message, at, attempt?}";

const ls = buildCommand<DataFlags, [run: string], Context>({
  loader: async () => (await import("./dlq.ts")).dlqLsCommand,
  parameters: {
    flags: { home, json: flag(`One JSON array of ${LETTER}`) },
    positional: { kind: "tuple", parameters: [workflow] },
  },
  docs: { brief: "List the items of a run's map that failed for good" },
});

const item = { parse: wholeNumber, placeholder: "item", brief: "An item's number, from `dlq ls`" } as const;

const show = buildCommand<DataFlags, [run: string, item: number], Context>({
  loader: async () => (await import("./dlq.ts")).dlqShowCommand,
  parameters: {
    flags: { home, json: flag("One JSON object {item, value, state, tries, error, at}") },
    positional: { kind: "tuple", parameters: [workflow, item] },
  },
  docs: described(
    "Show one item in full, and its error",
    "The output of its steps: holdfast logs --step STEP --item ITEM RUN",
  ),
});

/** stricli supports only one kind of argument in a list. */
const runAndItems = {
  kind: "array",
  minimum: 1,
  parameter: {
    ...workflow,
    parse: text,
    placeholder: "run [item]",
    brief: `${workflow.brief}; then numbers of items [default = all]`,
  },
} as const;

const retry = buildCommand<DlqFlags, string[], Context>({
  loader: async () => (await import("./dlq.ts")).dlqRetryCommand,
  parameters: {
    flags: { home, detach: flag("Do not follow it"), json: flag(`One JSON object ${ROW}`) },
    aliases: { d: "detach" },
    positional: runAndItems,
  },
  docs: { brief: "Retry failed items, even after the run's end; reduce runs again afterwards" },
});

const clear = buildCommand<DataFlags, string[], Context>({
  loader: async () => (await import("./dlq.ts")).dlqClearCommand,
  parameters: { flags: { home, json: flag(`One JSON object ${ROW}`) }, positional: runAndItems },
  docs: { brief: "Remove failed items from the queue; they still count as failed" },
});

export const dlq = buildRouteMap({
  routes: { ls, show, retry, clear },
  docs: { brief: "The dead-letter queue of a run: ls, show, retry, clear" },
});
