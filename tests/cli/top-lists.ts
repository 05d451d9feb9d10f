// Lists of `holdfast top` for its tests.

import type { Lists } from "../../src/cli/top/rows.ts";
import type { ListedAgent, ListedPrompt } from "../../src/wire/rpc/agent.ts";
import type { BriefTerminal } from "../../src/wire/rpc/rpc.ts";

const AT = "2026-11-18T15:44:11.000Z";

export function promptOf(id: string, given: Partial<ListedPrompt> = {}): ListedPrompt {
  return {
    ...{ id, agent: "a1", name: "worker", tool: "Bash", input: { command: `rm ${id}` }, since: AT, deadline: AT },
    ...{ state: "open", stage: "Pending", ...given },
  };
}

export function agentOf(id: string, given: Partial<ListedAgent> = {}): ListedAgent {
  return {
    ...{ id, name: id, parent: null, state: "working", provider: "claude", model: null, cwd: "/w", createdAt: AT },
    ...{ inbox: 0, prompts: [], turns: 1, turnStartedAt: AT, pid: 1, note: null, ...given },
  };
}

export function listsOf(given: Partial<Lists> = {}): Lists {
  return { prompts: [], agents: [], terminals: [], runs: [], ...given };
}

export function terminalOf(id: string, given: Partial<BriefTerminal> = {}): BriefTerminal {
  return {
    ...{ id, name: id, lane: "main", generation: 1, createdAt: AT, signal: undefined, unset: [], policy: "auto" },
    recipe: { argv: ["bash"], cwd: "/w", size: { cols: 80, rows: 24 } },
    state: { kind: "running", pid: 1, startTime: 1, bootId: "b", holder: 2 },
    ...{ restored: undefined, restorations: [], rollingBack: false, removed: false },
    ...{ clients: 0, lastOutputAt: null, bytes: 0, ...given },
  };
}
