// Where an agent works: parses the flags, and formats the result.
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
    "Work in a separate git worktree on its own branch (holdfast/NAME-ID), which is kept after the agent ends",
  ),
  sandbox: flag("Run in a sandbox (bubblewrap) that sees only the system, its directory and what you bind"),
  bindRo: path("With --sandbox: a path it may also read, but not change. May be repeated"),
  bind: path("With --sandbox: a path it may also change. May be repeated"),
  noNetwork: flag("With --sandbox: no network; its Holdfast tools still work"),
} as const;

export function wantedWorkspace(
  { worktree = false, sandbox = false, bindRo = [], bind = [], noNetwork = false }: WorkspaceFlags,
  absolute: (path: string) => string,
): Result<{ readonly workspace?: WantedWorkspace }> {
  if (!sandbox && (bindRo.length > 0 || bind.length > 0 || noNetwork))
    return refused("usage", "--bind-ro, --bind and --no-network need a sandbox.", "Add --sandbox.");
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
