// Finds the agent that a person means, and asks the daemon about it.
// FA1. A name means the one agent with exactly this name; if several parents have one, `parent/name` distinguishes
//      them. Anything else is a prefix of an id that matches only one agent. No match is refused; it never means "the
//      last one".
// FA2. A terminated agent is not listed; its full id still finds it while the daemon remembers it.
// FA3. Once found, the same agent is used for retries, even if the daemon died in between.
import { isId, matchOne } from "../../base/ids.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { nearest } from "../../wire/files/nearest.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import { onDaemon } from "../client.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import type { Reader } from "../disk-reader.ts";
import type { DataFlags, HomeFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { look } from "../look.ts";
import { shortId } from "../sessions.ts";

type Named = { readonly id: string; readonly name: string; readonly parent: string | null };
type Act<T> = (client: RpcClient, agent: ListedAgent, again: boolean) => Promise<Result<T>>;
type Look<T> = (reader: Reader, agent: ListedAgent) => Promise<Result<T>>;

const SEE_ALL = "`holdfast agent tree` shows all.";

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

export async function findAgent(client: Reader, key: string): Promise<Result<ListedAgent>> {
  const list = await client.call("agent.list", {});
  if (!list.ok) return list;
  const picked = pickAgent(list.value, key);
  return !picked.ok && isId(key) ? client.call("agent.show", { id: key }) : picked; // FA2
}

/** FA1 */
export function pickAgent<T extends Named>(agents: readonly T[], key: string): Result<T> {
  const named = agents.filter((agent) => `/${pathOf(agents, agent)}`.endsWith(`/${key}`));
  const [only, ...others] = key === "" ? [] : named;
  if (only !== undefined && others.length === 0) return ok(only);
  if (only !== undefined) return severalOf(agents, named, key);
  const id = matchOne(
    agents.map((agent) => agent.id),
    key,
  );
  const found = id.ok ? agents.find((agent) => agent.id === id.value) : undefined;
  if (found !== undefined) return ok(found);
  if (!id.ok && id.error.code === "ambiguous") return refused("ambiguous", id.error.message, SEE_ALL);
  const message = key === "" ? "No name was given." : `There is no agent ${JSON.stringify(key)}.`;
  const near = nearest(
    key,
    agents.flatMap((agent) => [agent.name, pathOf(agents, agent)]),
  );
  return refused("unknown", message, near === undefined ? SEE_ALL : `Did you mean ${near}? ${SEE_ALL}`);
}

function severalOf(agents: readonly Named[], found: readonly Named[], key: string): Result<never> {
  const named = found.map((agent) => `${pathOf(agents, agent)} (${shortId(agent.id)})`).join(", ");
  return refused("ambiguous", `${JSON.stringify(key)} matches ${found.length}: ${named}.`, "Give its path, or its id.");
}

/** The agent's name after those of its parents: `root/worker`. */
export function pathOf(agents: readonly Named[], agent: Named): string {
  const names: string[] = [];
  let above: Named | undefined = agent;
  while (above !== undefined) {
    names.unshift(above.name);
    const { parent }: Named = above;
    above = parent === null ? undefined : agents.find(({ id }) => id === parent);
  }
  return names.join("/");
}
