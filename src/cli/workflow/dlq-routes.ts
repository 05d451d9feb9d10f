// The commands on dead-letter queues: what they are called and take.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, flag, home, text, wholeNumber } from "../flags.ts";
import type { DlqFlags } from "./dlq.ts";
import { ROW, workflow } from "./words.ts";

const LETTER = "{item, value, tries, step, message, at}";

const ls = buildCommand<DataFlags, [run: string], Context>({
  loader: async () => (await import("./dlq.ts")).dlqLsCommand,
  parameters: {
    flags: { home, json: flag(`One JSON array of ${LETTER}`) },
    positional: { kind: "tuple", parameters: [workflow] },
  },
  docs: { brief: "List the items of a run's map that failed for good" },
});

const item = { parse: wholeNumber, placeholder: "item", brief: "An item's number, as `dlq ls` says it" } as const;

const show = buildCommand<DataFlags, [run: string, item: number], Context>({
  loader: async () => (await import("./dlq.ts")).dlqShowCommand,
  parameters: {
    flags: { home, json: flag("One JSON object {item, value, state, tries, error, at}") },
    positional: { kind: "tuple", parameters: [workflow, item] },
  },
  docs: {
    brief: "Show one item whole, and what it failed with",
    fullDescription: "What its steps have written: holdfast logs --step STEP --item ITEM RUN",
  },
});

/** stricli takes one kind of argument where there may be many. */
const runAndItems = {
  kind: "array",
  minimum: 1,
  parameter: {
    ...workflow,
    parse: text,
    placeholder: "run [item]",
    brief: `${workflow.brief}; then numbers of items, all where there are none`,
  },
} as const;

const retry = buildCommand<DlqFlags, string[], Context>({
  loader: async () => (await import("./dlq.ts")).dlqRetryCommand,
  parameters: {
    flags: { home, detach: flag("Do not follow it"), json: flag(`One JSON object ${ROW}`) },
    aliases: { d: "detach" },
    positional: runAndItems,
  },
  docs: { brief: "Work on failed items again, also after the run's end: reduce runs again behind them" },
});

const clear = buildCommand<DataFlags, string[], Context>({
  loader: async () => (await import("./dlq.ts")).dlqClearCommand,
  parameters: { flags: { home, json: flag(`One JSON object ${ROW}`) }, positional: runAndItems },
  docs: { brief: "Take failed items out of the queue; they count as failed all the same" },
});

export const dlq = buildRouteMap({
  routes: { ls, show, retry, clear },
  docs: { brief: "The dead-letter queue of a run: items that failed for good" },
});
