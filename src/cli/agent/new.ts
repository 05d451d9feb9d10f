// `holdfast agent new`: creates an agent. It is durable when the command returns, and starts with its instructions, if
// any.
// NA1. The id is chosen before the request: if the daemon dies in between, the retry creates no second agent.
import { isId, newId } from "../../base/ids.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { TERMINAL_MARKER } from "../../home/callers.ts";
import { terminalEnvironment } from "../../home/environment.ts";
import type { NewAgent } from "../../wire/rpc/agent.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit, type Given } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { mayTravel, queueWork, withoutAny } from "../fleet/any.ts";
import type { AnyFlags } from "../fleet/any-flags.ts";
import { meantHome } from "../home.ts";
import { printJson, say } from "../print.ts";
import { findAgent } from "./find.ts";
import { givenText } from "./input.ts";
import { rowOf } from "./row.ts";
import { type SettingFlags, settingsOf } from "./settings.ts";
import { wantedWorkspace, workspaceNotes } from "./workspace.ts";
import type { WorkspaceFlags } from "./workspace-flags.ts";

export type NewAgentFlags = DataFlags &
  SettingFlags & {
    readonly provider?: string;
    readonly model?: string;
    readonly parent?: string;
    readonly lane?: string;
    readonly instructions?: string;
    readonly systemPrompt?: string;
    readonly cwd?: string;
    readonly permissionMode?: string;
  } & WorkspaceFlags &
  AnyFlags;

/** Agents have no terminal. */
const TERM = "dumb";

async function create(world: DaemonCommandWorld, flags: NewAgentFlags & Given, name: string): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const labels = withoutAny(flags);
  if (!labels.ok) return labels;
  if (flags.any) return createAnywhere(world, flags, name);
  const wish = await wishOf(world, flags, name);
  if (!wish.ok) return wish;
  const made = await onDaemon(world, home.value, async (client) => {
    const parent = flags.parent === undefined ? undefined : await findAgent(client, flags.parent);
    if (parent?.ok === false) return parent;
    const above = parent?.value;
    const lane =
      flags.lane !== undefined ? { lane: flags.lane } : above === undefined ? await laneHere(world, client) : {};
    const cwd = flags.cwd === undefined && above !== undefined ? above.cwd : wish.value.cwd;
    const created = await client.call("agent.new", { ...wish.value, parent: above?.id ?? null, cwd, ...lane });
    return created.ok ? client.call("agent.show", { id: created.value.id }) : created;
  });
  if (!made.ok) return made;
  for (const note of workspaceNotes(made.value)) await say(world.console, note);
  if (flags.json) await printJson(world.console, rowOf(made.value));
  else await world.console.out.write(`${made.value.id}\n`);
  return ok(EXIT.ok);
}

/** AN1 of fleet/any.ts */
async function createAnywhere(world: DaemonCommandWorld, flags: NewAgentFlags & Given, name: string): Promise<Exit> {
  const { provider = null, model = null, systemPrompt = "", instructions = "", words = [] } = flags;
  const settings = settingsOf(flags);
  if (!settings.ok) return settings;
  const workspace = wantedWorkspace(flags, (path) => world.console.absolute(path));
  if (!workspace.ok) return workspace;
  const may = mayTravel({
    ...{
      "--parent": flags.parent,
      "--lane": flags.lane,
      "--cwd": flags.cwd,
      "--permission-mode": flags.permissionMode,
    },
    "A command": words.length > 0,
    "A setting": Object.keys(settings.value).length > 0,
    "A sandbox or worktree": Object.keys(workspace.value).length > 0,
  });
  if (!may.ok) return may;
  const text = await givenText(instructions);
  return queueWork(world, flags, { name, instructions: text, provider, model, systemPrompt });
}

/** That of the terminal in which this was typed, if it is one of this home. */
async function laneHere({ console }: DaemonCommandWorld, client: RpcClient): Promise<{ lane?: string }> {
  const key = console.env(TERMINAL_MARKER);
  const found = key !== undefined && isId(key) ? await client.call("terminal.find", { key }) : undefined;
  return found?.ok === true && found.value.id === key ? { lane: found.value.lane } : {};
}

async function wishOf(
  world: DaemonCommandWorld,
  flags: NewAgentFlags & Given,
  name: string,
): Promise<Result<NewAgent>> {
  const settings = settingsOf(flags);
  if (!settings.ok) return settings;
  const cwd = world.console.absolute(flags.cwd ?? ".");
  if (world.disk.stat(cwd)?.kind !== "directory")
    return refused("no-directory", `${cwd} is not a directory.`, "Choose where the agent works: --cwd DIR");
  const workspace = wantedWorkspace(flags, (path) => world.console.absolute(path));
  if (!workspace.ok) return workspace;
  const { provider = null, model = null, systemPrompt = "", permissionMode = null, words = [] } = flags;
  return ok({
    ...{ id: newId(world.random.bytes(16)), name, parent: null, provider, model, systemPrompt, cwd }, // NA1
    instructions: await givenText(flags.instructions ?? ""),
    env: terminalEnvironment(world.self.environment(), TERM),
    ...{ command: words, flags: [], permissionMode, settings: settings.value },
    ...workspace.value,
  });
}

export const newAgentCommand = withDaemonWorld(create);
