// The life of a permission prompt, as a table (PR-1 … PR-3), with the state names of the document: for the diagram, for
// clients, and for prompts.ts, which changes a prompt only if the table allows it. Tests check each decision as a whole
// (tests/agent/legal.ts).
// PM1. Pending, Forwarded and ActivityRefresh are passed through within one decision: a rule answers at once, and what
//      none answers is on disk for every client. What is stored is `PromptState`; the stage follows from it.
import { machine } from "../../base/machine.ts";
import type { PromptState } from "./agent.ts";

export type PromptStage =
  | "Pending"
  | "AutoApproved"
  | "AutoDenied"
  | "Forwarded"
  | "WaitingForClient"
  | "ActivityRefresh"
  | "Responded"
  | "Expired"
  /** Ours: the process that asked is gone, and must ask again. */
  | "Stale";

/** Two without a name of their own for clients: its answer was taken, or it is over without one that was. */
type PromptEnd = "Written" | "Lost";

type PromptChange =
  | "rule match (allow)"
  | "rule match (deny)"
  | "no rule match"
  | "sent to client"
  | "client sends response"
  | "user activity detected"
  | "TTL reset"
  | "7 days no activity"
  | "the default action's time"
  | "written to the agent"
  | "the asker is gone"
  | "taken back"
  | "asked again";

const ANSWERED = { "written to the agent": "Written", "the asker is gone": "Lost" } as const;

export const promptMachine = machine<PromptStage | PromptEnd, PromptChange>({
  name: "Permission prompt",
  initial: "Pending",
  table: {
    Pending: {
      "rule match (allow)": "AutoApproved",
      "rule match (deny)": "AutoDenied",
      "no rule match": "Forwarded",
    },
    Forwarded: { "sent to client": "WaitingForClient" },
    WaitingForClient: {
      "client sends response": "Responded",
      "user activity detected": "ActivityRefresh",
      "7 days no activity": "Expired",
      "the default action's time": "Expired",
      "the asker is gone": "Stale",
      "taken back": "Lost",
    },
    ActivityRefresh: { "TTL reset": "WaitingForClient" },
    AutoApproved: ANSWERED,
    AutoDenied: ANSWERED,
    Responded: ANSWERED,
    Expired: ANSWERED,
    Written: {},
    Stale: { "asked again": "Pending" },
    Lost: {},
  },
});

/** Where a prompt is in its life; an answer that was taken keeps its name. */
export function stageOf(state: PromptState): PromptStage {
  if (state.kind === "open") return "WaitingForClient"; // PM1
  if (state.kind === "stale") return "Stale";
  if (state.by === "user") return "Responded";
  if (state.by !== "rule") return "Expired";
  return state.decision === "allow" ? "AutoApproved" : "AutoDenied";
}

/** Whether the table has this change for a prompt. */
export function mayBecome(state: PromptState, change: PromptChange): boolean {
  return promptMachine.allows(placeOf(state), change);
}

/** Its state in the table. */
export function placeOf(state: PromptState): PromptStage | PromptEnd {
  if (state.kind === "stale" && state.isOver === true) return "Lost";
  return state.kind === "delivered" ? "Written" : stageOf(state);
}
