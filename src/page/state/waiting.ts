// What waits for a person, most urgent first, and its number in the title and the icon of the tab.
// WA1. Only what does not go on by itself (AT1 of wire/rpc/attention.ts): prompts, attempts whose outcome is unknown,
//      failed runs without a newer one, failed items, crashed agents, terminals that were not restarted.
import { computed, effect } from "@preact/signals";
import type { ListedAgent, ListedPrompt } from "../../wire/rpc/agent.ts";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { faviconOf } from "../favicon.ts";
import { type Route, route } from "./route.ts";
import { feeds } from "./session.ts";

export type Uncertain = { readonly run: ListedRun; readonly need: ListedRun["needs"][number] };

/** The longest waiting first. */
export function openPrompts(prompts: readonly ListedPrompt[]): ListedPrompt[] {
  return prompts.filter(({ state }) => state === "open").toSorted((a, b) => a.since.localeCompare(b.since));
}

/** Attempts whose outcome is unknown. Those that wait for an agent's prompt are shown by the prompt. */
export function uncertainOf(runs: readonly ListedRun[]): Uncertain[] {
  return runs.flatMap((run) => run.needs.filter(({ agent }) => agent === null).map((need) => ({ run, need })));
}

/** WA1. `runs` come newest first. */
export function failedRuns(runs: readonly ListedRun[]): ListedRun[] {
  const seen = new Set<string>();
  return runs.filter(({ name, state }) => {
    const isNewest = !seen.has(name);
    seen.add(name);
    return isNewest && state === "failed";
  });
}

/** Of the newest run of each workflow, those that ended with failed items. */
export function withFailedItems(runs: readonly ListedRun[]): ListedRun[] {
  const failed = new Set(failedRuns(runs));
  return runs.filter((run) => (run.items?.failed ?? 0) > 0 && !failed.has(run) && run.state !== "cancelled");
}

export function crashedAgents(agents: readonly ListedAgent[]): ListedAgent[] {
  return agents.filter(({ state }) => state === "crashed");
}

export function lostTerminals(terminals: readonly BriefTerminal[]): BriefTerminal[] {
  return terminals.filter(({ state }) => state.kind === "uncertain");
}

export const waiting = computed(() => {
  const runs = feeds.runs.value.value ?? [];
  return {
    prompts: openPrompts(feeds.prompts.value.value ?? []),
    uncertain: uncertainOf(runs),
    failed: failedRuns(runs),
    items: withFailedItems(runs),
    agents: crashedAgents(feeds.agents.value.value ?? []),
    terminals: lostTerminals(feeds.terminals.value.value ?? []),
    troubles: feeds.status.value.value?.troubles ?? [],
  };
});

export const waitingCount = computed(() => Object.values(waiting.value).reduce((sum, list) => sum + list.length, 0));

const TITLES: Readonly<Record<Route["view"], string>> = {
  ...{ now: "Now", terminals: "Terminals", terminal: "Terminal", agents: "Agents", agent: "Agent" },
  ...{ workflows: "Workflows", run: "Run", recovery: "Recovery", access: "Access", search: "Search" },
  ...{ homes: "Homes", home: "Home" },
};

/** Keeps title and icon of the tab. */
export function followWaiting(): void {
  effect(() => {
    const many = waitingCount.value;
    document.title = `${many > 0 ? `(${many}) ` : ""}${TITLES[route.value.view]} · Holdfast`;
    document.querySelector("link[rel=icon]")?.setAttribute("href", faviconOf(many));
  });
}
