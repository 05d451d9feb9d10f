// The states of a call: that one prompt is shown on one target (a browser, the operator's command or URL), and that it
// is over.
import { machine } from "../../base/machine.ts";

export type CallState =
  /** Until the quiet hours are over. */
  | "held"
  /** Nothing has left, or what left was refused. */
  | "due"
  /** It may have arrived. */
  | "sent"
  | "shown"
  /** The prompt is over, and the target is to show that instead. */
  | "withdrawing"
  | "done";

export type CallEvent =
  | "quiet hours end"
  | "about to be sent"
  | "accepted"
  | "refused"
  /** No reply: it may have arrived. */
  | "lost"
  | "prompt is over"
  /** It was about to be sent, and nothing had left when the prompt was over. */
  | "not sent"
  | "target is gone"
  | "too late";

export const callMachine = machine<CallState, CallEvent>({
  name: "Call",
  initial: "held",
  table: {
    held: { "quiet hours end": "due", "prompt is over": "done", "target is gone": "done" },
    due: { "about to be sent": "sent", "prompt is over": "done", "target is gone": "done" },
    sent: {
      accepted: "shown",
      refused: "due",
      lost: "sent",
      "about to be sent": "sent",
      "prompt is over": "withdrawing",
      "target is gone": "done",
    },
    shown: { "prompt is over": "withdrawing", "target is gone": "done" },
    withdrawing: {
      accepted: "done",
      refused: "withdrawing",
      lost: "withdrawing",
      "not sent": "done",
      "target is gone": "done",
      "too late": "done",
    },
    done: {},
  },
});
