// Work that any host of a fleet may do: which host can, and what its claimer does with it next.
// FQ1. An item is carried out under its own id, so that making it twice finds the first. There is only one claim, so at
//      most one run or agent comes of it. A claim stays until its end is recorded, so none is lost.
// FQ2. An item takes its place at a host from the claim to the end of its run or agent.
import { ok, type Result, refused } from "../../base/result.ts";

/** What became of an item with the home that claimed it. `state`: of its run or agent. */
export type Work =
  | { readonly kind: "absent" | "working" | "unknown" }
  | { readonly kind: "over"; readonly end: "done" | "failed"; readonly state: string };

/** The states in which nothing of it will happen by itself or by a person any more. */
const ENDS: Readonly<Record<string, "done" | "failed">> = {
  done: "done",
  done_with_failures: "done",
  failed: "failed",
  cancelled: "failed",
  terminated: "done",
};

/** By the state that a list shows of it; undefined: there is none with its id. */
export function workOf(state: string | undefined): Work {
  if (state === undefined) return { kind: "absent" };
  const end = Object.hasOwn(ENDS, state) ? ENDS[state] : undefined;
  return end === undefined ? { kind: "working" } : { kind: "over", end, state };
}

/** Of a run or an agent, by the state that a list shows. */
export function isOver(state: string): boolean {
  return Object.hasOwn(ENDS, state);
}

const LABEL = /^[A-Za-z0-9][\w.=/:-]{0,63}$/;
const MAX_LABELS = 16;

/** Each once. They are stored in plain text. */
export function wantedLabels(given: readonly string[]): Result<readonly string[]> {
  const labels = [...new Set(given)].sort();
  const wrong = labels.find((label) => !LABEL.test(label));
  if (wrong !== undefined) return refused("usage", `${JSON.stringify(wrong)} is no label.`, LABELS);
  if (labels.length > MAX_LABELS) return refused("usage", `More than ${MAX_LABELS} labels.`, LABELS);
  return ok(labels);
}

const LABELS = "A label is a word such as `gpu` or `arch=arm64`, as in [fleet] labels of a host.";

/** FQ2. How many more items a host may claim. */
export function placesLeft(capacity: number, claimed: number): number {
  return Math.max(0, capacity - claimed);
}
