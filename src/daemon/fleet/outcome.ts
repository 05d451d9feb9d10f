// What came of a call or a request, and whether a later try may come to more.
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { type Answer, whyOf } from "../../fleet/database.ts";

/** What is committed without a doubt; repeating it does nothing twice. */
export function surely<T>(answer: Answer<T>): Result<T> {
  if (answer.kind === "done" && !answer.isDoubtful) return ok(answer.value);
  return refused("fleet-database", `The database of the fleet did not answer: ${whyOf(answer)}`, "Try it again.");
}

/** After these refusals a later look may succeed. */
const PASSING: readonly string[] = ["log.blocked", "log.closed", "log.stopped", "fleet-away", "not-live", "disk"];

export function isPassing({ code }: Refusal): boolean {
  return PASSING.includes(code);
}
