// What of an event in the log of an agent or a run a person would look for.
// ET1. Secret parameters of a workflow are in no event (decision 0022), environments are left out, and so is everything
//      else that is not listed here.
import { isList, isRecord, type Json } from "../../base/json.ts";
import { own } from "../../base/own.ts";

export type EventText = { readonly kind: "agent" | "prompt" | "run"; readonly text: string };

/** What is searched of each event: the fields that are texts, or any JSON. */
const FIELDS: Readonly<Record<string, { readonly kind: EventText["kind"]; readonly fields: readonly string[] }>> = {
  "agent.created": { kind: "agent", fields: ["name", "instructions"] },
  "agent.completed": { kind: "agent", fields: ["result"] },
  "agent.crashed": { kind: "agent", fields: ["reason"] },
  "agent.terminated": { kind: "agent", fields: ["reason"] },
  "message.enqueued": { kind: "agent", fields: ["payload"] },
  "turn.complete": { kind: "agent", fields: ["response"] },
  "turn.failed": { kind: "agent", fields: ["reason"] },
  "tool.answered": { kind: "agent", fields: ["tool", "result"] },
  "reminder.set": { kind: "agent", fields: ["text"] },
  "prompt.opened": { kind: "prompt", fields: ["tool", "input"] },
  "prompt.answered": { kind: "prompt", fields: ["decision", "message"] },
  "workflow.created": { kind: "run", fields: ["name", "path", "parameters", "branch"] },
  "workflow.attempt.ended": { kind: "run", fields: ["output", "error"] },
  "workflow.attempt.uncertain": { kind: "run", fields: ["reason"] },
  "workflow.attempt.waiting": { kind: "run", fields: ["reason"] },
  "workflow.step.ended": { kind: "run", fields: ["step", "error", "variables"] },
  "workflow.item.ended": { kind: "run", fields: ["error", "result"] },
  "workflow.items.found": { kind: "run", fields: ["items"] },
  "workflow.ended": { kind: "run", fields: ["state", "error"] },
};

/** Undefined if there is nothing to look for in it. */
export function eventText(event: string, data: Json): EventText | undefined {
  if (!isRecord(data)) return undefined;
  if (event === "agent.read") return withText("agent", saidIn(data["events"]));
  const row = own(FIELDS, event);
  return (
    row &&
    withText(
      row.kind,
      row.fields.flatMap((field) => textsOf(data[field])),
    )
  );
}

/** What an agent said, which tools it used, and what they returned. */
function saidIn(events: Json | undefined): string[] {
  if (!isList(events)) return [];
  return events.filter(isRecord).flatMap(({ kind, text, tool, input }) => {
    if (kind === "text" || kind === "tool-done") return textsOf(text);
    return kind === "tool" ? [...textsOf(tool), ...textsOf(input)] : [];
  });
}

function textsOf(value: Json | undefined): string[] {
  if (value === undefined || value === null) return [];
  return [typeof value === "string" ? value : JSON.stringify(value)];
}

function withText(kind: EventText["kind"], texts: readonly string[]): EventText | undefined {
  const text = texts.filter((one) => one !== "").join("\n");
  return text === "" ? undefined : { kind, text };
}
