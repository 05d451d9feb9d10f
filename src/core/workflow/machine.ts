// The states of a run, as a table: for the diagram, and for the draft, which checks every change by it.
// What people see as running, waiting and uncertain is all `going` (R3 of run.ts).
import { machine } from "../../base/machine.ts";
import type { Status } from "./run.ts";

export type StatusChange =
  | "interrupt"
  | "cancel"
  | "stopped, interrupted"
  | "stopped, cancelled"
  | "a step fails"
  | "the last step ends"
  | "resume"
  | "retry the queue"
  | "roll back"
  | "change the file";

export const runMachine = machine<Status["kind"], StatusChange>({
  name: "Workflow run",
  initial: "going",
  table: {
    going: { interrupt: "closing", cancel: "closing", "a step fails": "failed", "the last step ends": "done" },
    closing: { cancel: "closing", "stopped, interrupted": "interrupted", "stopped, cancelled": "cancelled" },
    failed: {
      resume: "going",
      "retry the queue": "going",
      cancel: "cancelled",
      "roll back": "interrupted",
      "change the file": "failed",
    },
    interrupted: {
      resume: "going",
      "retry the queue": "going",
      cancel: "cancelled",
      "roll back": "interrupted",
      "change the file": "interrupted",
    },
    cancelled: { resume: "going", "roll back": "interrupted", "change the file": "cancelled" },
    done: { "retry the queue": "going", "roll back": "interrupted", "change the file": "done" },
  },
});
