// What waits for a person on a home, each with the next command: for `status`, which counts the prompts itself.
// AT1. Only what does not go on by itself. A failed run counts until a newer run of the same workflow exists.
import { shortId } from "../../base/ids.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { nextOf } from "../../core/workflow/progress.ts";
import type { ListedAgent } from "./agent.ts";
import type { Trouble } from "./rpc.ts";
import type { ListedRun } from "./workflow.ts";

export function agentForPerson({ name, state, note, failure }: ListedAgent): Trouble[] {
  if (state === "suspended" && failure !== undefined) {
    const what = `agent ${name} waits: turn ${failure.turn} failed: ${failure.reason}`;
    return [{ what, next: `holdfast agent retry ${name}` }];
  }
  if (state !== "crashed") return [];
  return [
    { what: `agent ${name} has crashed${note === null ? "" : `: ${note}`}`, next: `holdfast agent retry ${name}` },
  ];
}

/** AT1. `isNewest`: among those of the same name. */
export function runForPerson({ id, name, state, needs, error }: ListedRun, isNewest: boolean): Trouble[] {
  const own = `run ${name} (${shortId(id)})`;
  const resume = `holdfast resume ${shortId(id)}`;
  if (state === "waiting" || state === "uncertain") {
    const [need] = needs;
    const why = need === undefined ? "" : `: ${need.step}: ${need.why}`;
    return [{ what: `${own} is ${state}${why}`, next: need === undefined ? resume : nextOf(id, need) }];
  }
  if (state !== "failed" || !isNewest) return [];
  return [{ what: `${own} failed${error === null ? "" : `: ${error.step}: ${error.message}`}`, next: resume }];
}

export function terminalForPerson({ name, state }: Pick<Terminal, "name" | "state">): Trouble[] {
  if (state.kind !== "uncertain") return [];
  return [{ what: `terminal ${name} is not restarted: ${state.reason}`, next: `holdfast restore ${name}` }];
}
