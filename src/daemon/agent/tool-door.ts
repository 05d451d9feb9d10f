// A second socket of the daemon, for agents in sandboxes: the same socket server, alone in its own directory.
// TD1. A sandbox sees this directory and not `run/`, where the operator's token is. The directory is shared and not the
//      socket, because after a restart there is a new socket in the same place.
// TD2. It exists once there is an agent in a sandbox; its directory exists before that agent's process starts.
// TD3. The HTTP address of the tools is written there as well: it has the same path inside and outside.

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
