// Has the daemon find the agent that a person means (core/agent/find.ts), and asks about it.
// FA2. A terminated agent is not listed; its full id still finds it until it is removed.
// FA3. Once found, the same agent is used for retries, even if the daemon died in between.
import { isId } from "../../base/ids.ts";
import type { Result } from "../../base/result.ts";
import { pickAgent } from "../../core/agent/find.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import { allRows } from "../../wire/rpc/page.ts";
import { NO_SUCH_METHOD } from "../../wire/rpc/rpc.ts";
import { onDaemon } from "../client.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import type { Reader } from "../disk-reader.ts";
import type { DataFlags, HomeFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { look } from "../look.ts";

type Act<T> = (client: RpcClient, agent: ListedAgent, again: boolean) => Promise<Result<T>>;
type Look<T> = (reader: Reader, agent: ListedAgent) => Promise<Result<T>>;

/** Runs `act` on an agent, with a live daemon. */
export async function onAgent<T>(
  world: DaemonCommandWorld,
  flags: HomeFlags,
  key: string,
  act: Act<T>,
): Promise<Result<T>> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  let meant: ListedAgent | undefined;
  return onDaemon(world, home.value, async (client, again) => {
    if (meant === undefined) {
      const found = await findAgent(client, key);
      if (!found.ok) return found;
      meant = found.value;
    }
    return act(client, meant, again); // FA3
  });
}

/** Asks about an agent; while Holdfast is down, the disk. */
export async function lookAtAgent<T>(
  world: DaemonCommandWorld,
  flags: DataFlags,
  key: string,
  act: Look<T>,
): Promise<Result<T>> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  return look(world, { home: home.value, json: flags.json }, async (reader) => {
    const found = await findAgent(reader, key);
    return found.ok ? act(reader, found.value) : found;
  });
}

/** A daemon that is older than this lists them all, and the rule is applied here. */
export async function findAgent(client: Reader, key: string): Promise<Result<ListedAgent>> {
  const found = await client.call("agent.find", { key });
  if (found.ok || found.error.code !== NO_SUCH_METHOD) return found;
  const list = await allRows(client, "agent.list", {});
  if (!list.ok) return list;
  const picked = pickAgent(list.value, key);
  return !picked.ok && isId(key) ? client.call("agent.show", { id: key }) : picked; // FA2
}
