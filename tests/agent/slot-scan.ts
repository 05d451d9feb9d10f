// The slots of a provider by a scan of all agents: what the tree's counts, which follow every change, must agree with.
import { expect } from "bun:test";
import { type AgentRecord, holdsSlot, isEvictable } from "../../src/core/agent/agent.ts";
import type { ProviderName } from "../../src/core/agent/provider.ts";
import type { Tree } from "../../src/core/agent/tree.ts";

export function slotsByScan(records: Iterable<AgentRecord>, provider: ProviderName) {
  const agents = [...records].flatMap((one) =>
    one.kind === "agent" && one.plan.recipe.provider === provider ? [one] : [],
  );
  const resting = agents.filter(isEvictable).sort((a, b) => (used(a) < used(b) ? -1 : 1));
  return {
    taken: agents.filter(holdsSlot).length,
    stopping: agents.filter((agent) => agent.process.kind === "Stopping").length,
    oldestResting: resting[0]?.id,
  };
}

function used({ lastUsed, id }: { readonly lastUsed: string; readonly id: string }): string {
  return `${lastUsed} ${id}`;
}

export function expectSlotsCounted(tree: Tree, records: ReadonlyMap<string, AgentRecord>): void {
  for (const provider of ["scripted", "command", "openai"] as const) {
    const counted = {
      taken: tree.taken(provider),
      stopping: tree.stopping(provider),
      oldestResting: tree.oldestResting(provider),
    };
    expect(counted).toEqual(slotsByScan(records.values(), provider));
  }
}
