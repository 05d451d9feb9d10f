// A second door of the daemon, for agents in sandboxes: the same socket server, alone in a directory of its own.
// TD1. A sandbox sees this directory and not `run/`, where the operator's token is. It is the directory that it sees: after a restart the
//      socket is another one, in the same place.
// TD2. It is there from the first agent in a sandbox on; its directory before that one's process starts.
// TD3. Where the tools are over HTTP is said there as well: inside, it is in the same place as outside.

import { joinPath } from "../../base/path.ts";
import { isLive } from "../../core/agent/agent.ts";
import { makeHeldDirectory } from "../../home/held/holder-files.ts";
import { MCP_ADDRESS, TOOL_DOOR } from "../../home/layout.ts";
import { writeSmall } from "../../home/small-file.ts";
import { readWhole } from "../../log/file/file.ts";
import type { Disk } from "../../world/disk.ts";
import type { AgentStore } from "./store.ts";

type DoorWorld = { readonly disk: Disk; readonly home: string };

export function toolDoor(home: string): string {
  return joinPath(home, TOOL_DOOR);
}

/** TD2 */
export async function makeToolDoor({ disk, home }: DoorWorld): Promise<void> {
  await makeHeldDirectory(disk, home, toolDoor(home));
}

/** `listen` lets the daemon's socket server listen on one more path. */
export async function openToolDoor(
  world: DoorWorld,
  store: AgentStore,
  listen: (path: string) => Promise<void>,
): Promise<void> {
  if (![...store.agents()].some((agent) => isLive(agent) && agent.plan.workspace?.sandbox != null)) return;
  await makeToolDoor(world);
  await listen(joinPath(toolDoor(world.home), "daemon.sock"));
  const address = readWhole(world.disk, joinPath(world.home, MCP_ADDRESS));
  if (address !== undefined)
    await writeSmall(world.disk, world.home, "run/door/mcp.json", new TextDecoder().decode(address)); // TD3
}
