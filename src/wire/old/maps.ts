// The items of a map as older programs recorded them.
// OM1. An item that neither waits nor has ended was being worked on: how much of it was done is not known.
import { ok, type Result, refused } from "../../base/result.ts";
import type { OldItem, OldMap } from "../../core/workflow/migrate-old.ts";
import { choiceIn, countIn, type Fields, fieldsIn, jsonIn, listIn, textIn, timeIn } from "./fields.ts";

const NOTHING = { result: null, message: null, tries: 0, at: "" } as const;

/** A job: all items, and their results by name (`item_0` …). */
export function jobMap(fields: Fields, at: string): OldMap {
  const names = new Set(listIn(fields, "pending_items"));
  const results = fieldsIn(fields["agent_results"]);
  const done = new Set(listIn(fields, "completed_agents"));
  const failures = new Map<unknown, Fields>(
    Object.entries(fieldsIn(fields["failed_agents"])).map(([key, value]) => [
      textIn(fieldsIn(value), "item_id") ?? key,
      fieldsIn(value),
    ]),
  );
  const items = listIn(fields, "work_items").map((value, index): OldItem => {
    const name = `item_${index}`;
    const base = { ...NOTHING, value: jsonIn(value) };
    const result = fieldsIn(results[name]);
    const failure = failures.get(name);
    if (succeeded(result) || (done.has(name) && failure === undefined))
      return { ...base, state: "succeeded", result: resultOf(result), tries: 1, at };
    if (failure !== undefined || "status" in result) return failedItem(base, failure ?? result, at);
    return names.has(name) ? { ...base, state: "pending" } : { ...base, state: "working", tries: 1 }; // OM1
  });
  const reducing = fieldsIn(fields["reduce_phase_state"])["started"] === true;
  return { setupDone: fields["setup_completed"] === true || items.length > 0, items, reducing };
}

function succeeded(result: Fields): boolean {
  return choiceIn(result["status"])?.kind.toLowerCase() === "success";
}

function resultOf(result: Fields): OldItem["result"] {
  return "output" in result ? jsonIn(result["output"]) : null;
}

function failedItem(base: Omit<OldItem, "state">, fields: Fields, at: string): OldItem {
  const said = choiceIn(fields["status"])?.fields;
  const message = textIn(fields, "last_error", "error") ?? textIn(fieldsIn(said), "message") ?? "It failed.";
  return {
    ...base,
    state: "failed",
    message,
    tries: countIn(fields, "attempts") ?? 1,
    at: timeIn(fields, at, "last_attempt"),
  };
}

/** Some records have only the names of their items. */
export function agentMap(map: Fields): Result<OldMap> {
  if (Array.isArray(map["work_items"])) return ok(jobMap(map, ""));
  return refused(
    "no-items",
    "It names the items of its map, and does not say what they are.",
    "Look for its job in mapreduce/jobs/.",
  );
}

/** In the form of our own checkpoints. */
export function ownMap(map: Fields): Result<OldMap> {
  const items = listIn(map, "all").map((value): OldItem => {
    const item = fieldsIn(value);
    const state = fieldsIn(item["state"]);
    const base = {
      ...NOTHING,
      value: jsonIn(item["value"]),
      tries: countIn(item, "tries") ?? 0,
      at: timeIn(state, "", "at"),
    };
    if (state["kind"] === "succeeded") return { ...base, state: "succeeded", result: jsonIn(state["result"]) };
    if (state["kind"] === "pending") return { ...base, state: "pending" };
    if (state["kind"] === "active") return { ...base, state: "working" }; // OM1
    return { ...base, state: "failed", message: textIn(fieldsIn(state["error"]), "message") };
  });
  const phase = map["phase"];
  return ok({
    setupDone: phase !== "setup",
    items: map["complete"] === true ? items : [],
    reducing: phase === "reduce",
  });
}
