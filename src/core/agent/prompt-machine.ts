// The states of a permission prompt, as a table (PR-1 … PR-3): for the diagram, and for prompts.ts, which changes a
// prompt only if the table allows it. Tests check each decision as a whole (tests/agent/legal.ts).
import { machine } from "../../base/machine.ts";
import type { PromptState } from "./agent.ts";

type PromptChange =
  | "a rule matches"
  | "a person answers"
  | "activity"
  | "7 days without activity"
  | "the default action's time"
  | "taken by the agent"
  | "the asker is gone";

export const promptMachine = machine<PromptState["kind"], PromptChange>({
  name: "Permission prompt",
  initial: "open",
  table: {
    open: {
      "a rule matches": "answered",
      "a person answers": "answered",
      activity: "open",
      "7 days without activity": "answered",
      "the default action's time": "answered",
      "the asker is gone": "stale",
    },
    answered: { "taken by the agent": "delivered", "the asker is gone": "stale" },
    delivered: {},
    stale: {},
  },
});
