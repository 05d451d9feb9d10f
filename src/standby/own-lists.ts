// The lists of this home, as its daemon answers them, over a connection that stays: the daemon says when something
// has changed, so a home in which nothing happens costs nobody anything.
// OL1. What changes while the lists are read is found by the next reading.
import { isFault } from "../base/fault.ts";
import type { OwnLists, OwnRows } from "../fleet/lister.ts";
import { type DialWorld, dial } from "../home/dial.ts";
import type { RpcClient } from "../wire/rpc/client.ts";
import { allRows } from "../wire/rpc/page.ts";

/** Everything that is published but the text of agents as it comes. */
const TOPICS = ["*"];

export function ownLists(world: DialWorld, home: string): OwnLists {
  let client: RpcClient | undefined;
  let isChanged = true;
  const connected = async (): Promise<RpcClient | undefined> => {
    if (client !== undefined) return client;
    const made = await dial(world, home);
    if (!made.ok || made.value === undefined) return undefined;
    const line = made.value;
    client = line;
    isChanged = true;
    line.onNotice = () => {
      isChanged = true;
    };
    void line.closed.then(() => {
      if (client === line) client = undefined;
    });
    await line.call("subscribe", { topics: TOPICS });
    return client;
  };
  return {
    changed: async () => {
      try {
        const line = await connected();
        if (line === undefined || !isChanged) return undefined;
        isChanged = false; // OL1
        const rows = await rowsOf(line);
        if (rows === undefined) isChanged = true;
        return rows;
      } catch (error) {
        if (!isFault(error)) throw error;
        return undefined;
      }
    },
    close: () => client?.close(),
  };
}

/** Undefined: the daemon has none to give now. */
async function rowsOf(client: RpcClient): Promise<OwnRows | undefined> {
  const [terminals, runs, agents, prompts, closed] = await Promise.all([
    allRows(client, "terminal.list", {}),
    allRows(client, "workflow.list", {}),
    allRows(client, "agent.list", {}),
    allRows(client, "prompt.list", {}),
    allRows(client, "prompt.list", { closed: true }),
  ]);
  if (!terminals.ok || !runs.ok || !agents.ok || !prompts.ok || !closed.ok) return undefined;
  const rows = { terminals: terminals.value, runs: runs.value, agents: agents.value, prompts: prompts.value };
  return { ...rows, closed: closed.value.map(({ id }) => id) };
}
