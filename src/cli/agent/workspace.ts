// Where an agent is to work, from the words on the command line; and what is shown of it.
import { ok, type Result, refused } from "../../base/result.ts";
import type { Workspace } from "../../core/agent/workspace.ts";
import type { WantedWorkspace } from "../../wire/rpc/agent.ts";
import { flag } from "../flags.ts";

export type WorkspaceFlags = {
  readonly worktree?: boolean;
  readonly sandbox?: boolean;
  readonly bindRo?: readonly string[];
  readonly bind?: readonly string[];
  readonly noNetwork?: boolean;
};

const path = (brief: string) =>
  ({
    kind: "parsed",
    parse: (input: string) => input,
    optional: true,
    variadic: true,
    placeholder: "path",
    brief,
  }) as const;

export const workspaceFlags = {
  worktree: flag(
    "In a git worktree of its own, on a branch of its own (holdfast/NAME-ID); it stays when the agent has ended",
  ),
  sandbox: flag("In a sandbox (bubblewrap): it sees the system, its directory and what you bind, and no more"),
  bindRo: path("With --sandbox: it sees this too, and cannot change it. May be given again"),
  bind: path("With --sandbox: it may change this too. May be given again"),
  noNetwork: flag("With --sandbox: without a network; its tools work all the same"),
} as const;

export function wantedWorkspace(
  { worktree = false, sandbox = false, bindRo = [], bind = [], noNetwork = false }: WorkspaceFlags,
  absolute: (path: string) => string,
): Result<{ readonly workspace?: WantedWorkspace }> {
  if (!sandbox && (bindRo.length > 0 || bind.length > 0 || noNetwork))
    return refused("usage", "--bind-ro, --bind and --no-network are about a sandbox.", "Add --sandbox.");
  if (!worktree && !sandbox) return ok({});
  const [read, write] = [bindRo.map(absolute), bind.map(absolute)];
  return ok({ workspace: { worktree, sandbox: sandbox ? { read, write, network: !noNetwork } : null } });
}

export function workspaceLines(workspace: Workspace | null): (readonly [string, string | null])[] {
  const { worktree = null, sandbox = null } = workspace ?? {};
  const more = (name: string, paths: readonly string[]) => (paths.length === 0 ? [] : [`${name} ${paths.join(", ")}`]);
  const shown = sandbox && [
    ...more("writes", sandbox.write),
    ...more("reads", sandbox.read),
    sandbox.network ? "network" : "no network",
  ];
  return [
    ["worktree", worktree && `${worktree.path} (branch ${worktree.branch})`],
    ["sandbox", shown?.join("; ") ?? null],
  ];
}
