// Terminals and agents that the page starts.
// NP1. They get the environment in which Holdfast was started. It never reaches the browser.
// NP2. A command is one line for the user's shell, as people type it; without one, it is that shell, or the program of
//      the agent's provider.
// NP3. The page chooses the id of an agent: a repeated request finds the agent that the first one made.
import { ok, type Result, refused } from "../base/result.ts";
import type { DaemonLink } from "../home/daemon-link.ts";
import { terminalEnvironment } from "../home/environment.ts";
import { fitting } from "../wire/check.ts";
import { NEW_AGENT, NEW_TERMINAL } from "../wire/page/messages.ts";
import type { Disk } from "../world/disk.ts";

type Environment = Readonly<Record<string, string>>;
export type StartWorld = { readonly disk: Disk; readonly self: { environment(): Environment } };

export async function newTerminal({ self, disk }: StartWorld, params: object, link: Link): Promise<Result<unknown>> {
  const given = fitting(NEW_TERMINAL, params);
  if (given === undefined) return refused("bad-params", "This is not a terminal to open.", "Reload the page.");
  const env = { ...self.environment(), TERM: "xterm-256color" }; // NP1
  const cwd = directoryOf(disk, given.cwd, env);
  if (!cwd.ok) return cwd;
  const { name, lane, command } = given;
  const argv = argvOf(command, env) ?? [shellOf(env)];
  return link.call("terminal.new", { name, lane, argv, cwd: cwd.value, env, cols: 100, rows: 30 });
}

export async function newAgent({ self, disk }: StartWorld, params: object, link: Link): Promise<Result<unknown>> {
  const given = fitting(NEW_AGENT, params);
  if (given === undefined) return refused("bad-params", "This is not an agent to start.", "Reload the page.");
  const env = terminalEnvironment(self.environment(), "dumb"); // NP1. Agents have no terminal.
  const cwd = directoryOf(disk, given.cwd, env);
  if (!cwd.ok) return cwd;
  const { id, name, parent, lane = "", instructions, provider, model, command } = given;
  return link.call("agent.new", {
    ...{ id, name, parent, instructions, systemPrompt: "", cwd: cwd.value, env }, // NP3
    ...(lane !== "" && { lane }),
    ...{ provider: provider === "" ? null : provider, model: model === "" ? null : model },
    ...{ command: argvOf(command, env) ?? [], flags: [], permissionMode: null, settings: {} },
  });
}

type Link = Pick<DaemonLink, "call">;

function shellOf({ SHELL = "/bin/sh" }: Environment): string {
  return SHELL;
}

/** NP2. Undefined if nothing was typed. */
function argvOf(command: string, env: Environment): string[] | undefined {
  return command.trim() === "" ? undefined : [shellOf(env), "-c", command];
}

/** The one that was given, or the user's own. */
function directoryOf(disk: Disk, given: string, { HOME = "/" }: Environment): Result<string> {
  const inside = given === "" ? HOME : given;
  if (inside.startsWith("/") && disk.stat(inside)?.kind === "directory") return ok(inside);
  return refused("no-directory", `There is no directory ${inside}.`, "Give a full path, or leave it empty.");
}
