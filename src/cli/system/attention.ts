// What waits for a person on a home, each with the next command: for `status`. It counts the prompts itself.
// AT1. Only what does not go on by itself. A failed run counts until a newer run of the same workflow exists.
import { nextOf } from "../../core/workflow/progress.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import type { ListedTerminal, Trouble } from "../../wire/rpc/rpc.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { shortId } from "../sessions.ts";

export type Sessions = {
  readonly terminals: readonly ListedTerminal[];
  readonly runs: readonly ListedRun[];
  readonly agents: readonly ListedAgent[];
};

/** Lists everything else than terminals; nothing while the daemon has not read its logs. */
export async function askSessions(client: RpcClient): Promise<Omit<Sessions, "terminals">> {
  const [runs, agents] = await Promise.all([client.call("workflow.list", {}), client.call("agent.list", {})]);
  return { runs: runs.ok ? runs.value : [], agents: agents.ok ? agents.value : [] };
}

export function attentionOf({ terminals, runs, agents }: Sessions): Trouble[] {
  return [
    ...agents.flatMap(agentLines),
    ...runs.flatMap((run) => runLines(run, runs)),
    ...terminals.flatMap(terminalLines),
  ];
}

function agentLines({ name, state, note }: ListedAgent): Trouble[] {
  if (state !== "crashed") return [];
  return [
    { what: `agent ${name} has crashed${note === null ? "" : `: ${note}`}`, next: `holdfast agent retry ${name}` },
  ];
}

/** AT1 */
function runLines({ id, name, state, needs, error, startedAt }: ListedRun, all: readonly ListedRun[]): Trouble[] {
  const own = `run ${name} (${shortId(id)})`;
  const resume = `holdfast resume ${shortId(id)}`;
  if (state === "waiting" || state === "uncertain") {
    const [need] = needs;
    const why = need === undefined ? "" : `: ${need.step}: ${need.why}`;
    return [{ what: `${own} is ${state}${why}`, next: need === undefined ? resume : nextOf(id, need) }];
  }
  const isNewest = !all.some((other) => other.name === name && other.startedAt > startedAt);
  if (state !== "failed" || !isNewest) return [];
  return [{ what: `${own} failed${error === null ? "" : `: ${error.step}: ${error.message}`}`, next: resume }];
}

function terminalLines({ name, state }: ListedTerminal): Trouble[] {
  if (state.kind !== "uncertain") return [];
  return [{ what: `terminal ${name} is not restarted: ${state.reason}`, next: `holdfast restore ${name}` }];
}
