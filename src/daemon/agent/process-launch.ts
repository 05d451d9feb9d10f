// How a process of an agent is started: its arguments and variables, its spec on disk, and its holder.
import { BUN_VARIABLES } from "../../base/bun.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { Agent } from "../../core/agent/agent.ts";
import { factsOf } from "../../core/agent/effects.ts";
import type { SessionFacts } from "../../core/agent/provider.ts";
import { withoutHidden } from "../../core/agent/provider-access.ts";
import { throughProxy } from "../../core/agent/sandbox-access.ts";
import { placed, type ToolPlaces } from "../../core/agent/workspace.ts";
import { ownToken, pipeSpec, writeSpec } from "../../home/held/holder-files.ts";
import { holderStart } from "../../wire/holder/start.ts";
import type { Command } from "../../world/children.ts";
import type { HolderCommand } from "../held/holder-program.ts";
import type { DaemonWorld } from "../ports.ts";
import { agentSessions } from "../terminal/coding-agent-sessions.ts";
import { makeClaudeState } from "./claude-state.ts";
import { codecOf } from "./codecs.ts";
import {
  keepAgentToken,
  type ProcessPlace,
  processDirectory,
  processName,
  processSocket,
  removeOlder,
  TAPE,
} from "./process-files.ts";
import { programPlaces } from "./program-places.ts";
import { ensureProxy, launchAccess, removeOldProxies } from "./proxies.ts";
import { makeToolDoor } from "./tool-door.ts";
import { SHIM, toolPlaces } from "./workspaces.ts";

export type LaunchPorts = {
  holderCommand(): HolderCommand;
  /** Variables for its programs: the allowed ones of ours, which are never written to disk. */
  environment(agent: Agent): Readonly<Record<string, string>>;
  /** Its session is on record, durably (R2 of records.ts). */
  recorded(agent: Agent): Promise<void>;
};

/** Its conversation is gone: nothing is started in its place (FR1 of core/agent/fresh.ts). */
export const UNRESUMABLE = "unresumable";

/** Writes its spec, and returns how its holder is started; undefined if its provider is unknown. */
export async function prepareProcess(
  world: DaemonWorld,
  ports: LaunchPorts,
  agent: Agent,
): Promise<Result<Command | undefined>> {
  const codec = codecOf(agent.plan.recipe.provider);
  if (codec === undefined) return ok(undefined);
  await ports.recorded(agent);
  await keepAgentToken(world, agent.id);
  const places = toolPlaces(world, agent);
  if (places.state !== null) await makeClaudeState(world.disk, world.home, places.state);
  const allowed = ports.environment(agent);
  await ensureProxy(world, agent, allowed);
  const { variables: secrets } = launchAccess(world, agent, allowed);
  const resume = resumes(world, agent, secrets);
  if (!resume && agent.plan.recipe.provider === "claude" && agent.remembers === true) return noTranscript(agent);
  const facts = { ...factsOf(agent), tools: toolsOf(world, agent.id), resume };
  const { argv, env } = codec.launch(facts, agent.turn?.prompt.text ?? "");
  const { recipe, cwd, environment, workspace } = agent.plan;
  if (workspace?.sandbox != null) await makeToolDoor(world);
  const given = { ...withoutHidden(recipe, environment), ...env };
  const shown = withProgram(world, agent, places, { program: argv[0] ?? "", env: { ...given, ...secrets } });
  const start = placed(workspace, throughProxy({ argv, cwd }, places.proxy), shown);
  await writeProcessSpec(world, agent, { ...start, env: given });
  removeOlder(world.disk, world.home, agent);
  if (places.proxy !== null) removeOldProxies(world, agent);
  const { runtime, entry } = ports.holderCommand();
  const passed = { ours: world.self.environment(), secrets, adopts: true };
  return ok(holderStart(runtime, entry, processDirectory(world.home, agent), passed));
}

function noTranscript({ providerSession }: Agent): Result<never> {
  return refused(UNRESUMABLE, `Claude Code has no transcript of its session ${providerSession}.`, "");
}

type Env = Readonly<Record<string, string>>;

/** What its sandbox shows for its tools and its program. */
function withProgram(
  { disk }: DaemonWorld,
  { plan }: Agent,
  tools: ToolPlaces,
  { program, env }: { readonly program: string; readonly env: Env },
): ToolPlaces {
  const sandbox = plan.workspace?.sandbox ?? null;
  if (sandbox === null) return tools;
  const { programs, links } = programPlaces(disk, sandbox, { program, path: tools.path ?? env["PATH"] ?? "" });
  return { ...tools, programs: [...tools.programs, ...programs], links };
}

type Start = { readonly argv: readonly string[]; readonly cwd: string; readonly env: Env };

function writeProcessSpec(world: DaemonWorld, place: ProcessPlace, start: Start): Promise<void> {
  const { home, random } = world;
  const directory = processDirectory(home, place);
  const token = ownToken(world, directory) ?? random.bytes(32).toHex();
  const names = { id: processName(place), socket: processSocket(home, place) };
  return writeSpec(world, directory, { ...pipeSpec({ ...names, ...start, token, tape: TAPE }), adopts: true });
}

/** Claude writes its transcript with a delay: its file, not our memory, tells whether there is one. */
function resumes({ disk }: DaemonWorld, agent: Agent, secrets: Env): boolean {
  const { recipe, cwd, environment } = agent.plan;
  if (recipe.provider !== "claude") return agent.resumable;
  const env = { ...environment, ...secrets }; // The holder's order.
  const query = { agent: "claude", cwd, since: undefined, env } as const;
  return agentSessions(disk, query).known.includes(agent.providerSession);
}

/** An agent may pass variables of the repository it works in (an `.env`) on to what it starts (BN2 of base/bun.ts). */
export function toolsOf({ self, home }: Pick<DaemonWorld, "self" | "home">, id: string): SessionFacts["tools"] {
  const command = ["/usr/bin/env", ...BUN_VARIABLES.flatMap((name) => ["-u", name]), ...self.lasting(SHIM)];
  return { command, env: { HOLDFAST_HOME: home, HOLDFAST_AGENT: id } };
}
