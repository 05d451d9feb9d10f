// The tools of its own that an agent has called and that have no result yet: if its process dies, the next one does not
// know whether they ran, and programs drop them from their conversation without a word.
import { isList, isRecord, type Json, textOf } from "../../base/json.ts";
import type { Agent, ToolUse } from "./agent.ts";
import { cut } from "./limits.ts";
import type { ProviderEvent } from "./provider.ts";

/** Programs call a few tools side by side. */
const MAX_RUNNING = 8;
/** What a model needs to recognise its own call. */
const MAX_SHOWN = 500;

/** What is in flight after these events. */
export function stillRunning(before: readonly ToolUse[], events: readonly ProviderEvent[]): readonly ToolUse[] {
  let running = before;
  for (const event of events) {
    if (event.kind === "tool-done") running = running.filter(({ use }) => use !== event.use);
    if (event.kind === "tool") running = withUse(running, event.use, { tool: event.tool, input: brief(event.input) });
    if (event.kind === "ask" && event.use !== undefined)
      running = withUse(running, event.use, { tool: event.tool, request: event.request });
  }
  return running;
}

/** Some programs ask before they say that they call a tool, some afterwards, and some say it twice. */
function withUse(running: readonly ToolUse[], use: string, news: Partial<ToolUse>): readonly ToolUse[] {
  const known = running.find((one) => one.use === use) ?? { use, tool: "", input: "" };
  return [...running.filter((one) => one.use !== use), { ...known, ...news }].slice(-MAX_RUNNING);
}

function brief(input: Json): string {
  const command = isRecord(input) ? (input["command"] ?? input) : input;
  return cut(isList(command) ? command.map(textOf).join(" ") : textOf(command), MAX_SHOWN);
}

/** A sentence for each, for the prompt of the next process; empty if there is none. */
export function wordsInFlight({ turn, prompts }: Agent): string {
  const sentences = (turn?.running ?? []).map(({ tool, input, request }) => {
    const asked = request === undefined ? undefined : prompts.findLast((prompt) => prompt.request === request);
    const call = `${tool} \`${asked === undefined ? input : brief(asked.input)}\``;
    return asked === undefined || asked.state.kind === "delivered"
      ? `You had called ${call}; its outcome is unknown: check before you repeat it.`
      : `You had asked to call ${call}; it was not answered, so it did not run.`;
  });
  return sentences.join("\n");
}
