// What a home in a fleet is refused with while it is not certain that it is ours, and what an answer of the database
// comes to.
import { Fault } from "../../base/fault.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { type Answer, whyOf } from "../../fleet/database.ts";
import { awayRefusal, type DatabaseTrouble } from "./second-log.ts";

/** Nobody knows yet whose the home is. */
export function waiting(trouble: DatabaseTrouble | undefined): Refusal {
  const { message } = awayRefusal(trouble);
  const hint = "It is tried again and again. `holdfast status` says why; check [fleet] url in the configuration.";
  return { code: "fleet-away", message: `It is not known whether this home may run here. ${message}`, hint };
}

export const CLOSED: Refusal = { code: "fleet-closed", message: "it was given up", hint: "" };
/** Trying again does not help. */
export const FINAL: readonly string[] = ["log.hole", "fleet-damaged", "fleet-key", "fleet-hole"];
/** It helps once somebody has mended the database, or upgraded this host: until then the status says so. */
export const NEEDS_MENDING: readonly string[] = ["fleet-schema-newer", "fleet-rights"];

export function missingBehind(after: number): Refusal {
  return {
    code: "fleet-missing",
    message: `the database has the log up to entry ${after}, and the entries behind it are not all on this disk`,
    hint: "`holdfast log verify` says what is damaged. Nothing was changed.",
  };
}

export function faultOf({ code, message, hint }: Refusal): Fault {
  return new Fault({ code, operation: "fleet", path: message, hint });
}

export function certainly<T>(answer: Answer<T>): Result<T> {
  if (answer.kind === "done" && !answer.isDoubtful) return ok(answer.value);
  return refused("fleet-database", `The database of the fleet did not answer: ${whyOf(answer)}`, "It is tried again.");
}
