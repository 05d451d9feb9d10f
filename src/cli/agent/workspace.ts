// Where an agent works: parses the flags, and formats the result.
import { ok, type Result, refused } from "../../base/result.ts";
import type { Workspace } from "../../core/agent/workspace.ts";
import type { ShownAgent, WantedWorkspace } from "../../wire/rpc/agent.ts";
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
  sandbox: {
    kind: "boolean",
    optional: true,
    brief:
      "Run in a sandbox (bubblewrap) that sees only the system, its directory (of a repository: a clone) and what you bind [default = agents.sandbox]",
  },
  bindRo: path("A path that its sandbox may also read, but not change. May be repeated"),
  bind: path("A path that its sandbox may also change. May be repeated"),
  noNetwork: flag("A sandbox without a network; its Holdfast tools still work"),
} as const;

/** What it should see implies a sandbox. */
export function wantedWorkspace(
  { worktree = false, sandbox, bindRo = [], bind = [], noNetwork = false }: WorkspaceFlags,
  absolute: (path: string) => string,
): Result<{ readonly workspace?: WantedWorkspace }> {
  const implied = bindRo.length > 0 || bind.length > 0 || noNetwork;
  if (sandbox === false && implied)
    return refused("usage", "--bind-ro, --bind and --no-network need a sandbox.", "Leave --no-sandbox out.");
  if (sandbox === false) return ok({ workspace: { worktree, sandbox: null, unsandboxed: true } });
  const [read, write] = [bindRo.map(absolute), bind.map(absolute)];
  if (sandbox || implied) return ok({ workspace: { worktree, sandbox: { read, write, network: !noNetwork } } });
  return ok(worktree ? { workspace: { worktree, sandbox: null } } : {});
}

export function workspaceLines(workspace: Workspace | null): (readonly [string, string | null])[] {
  const { worktree = null, sandbox = null, clone, unsandboxed } = workspace ?? {};
  const more = (name: string, paths: readonly string[]) => (paths.length === 0 ? [] : [`${name} ${paths.join(", ")}`]);
  const shown = sandbox && [
    ...more("writes", sandbox.write),
    ...more("reads", sandbox.read),
    sandbox.network ? "network" : "no network",
  ];
  return [
    ["worktree", worktree && `${worktree.path} (branch ${worktree.branch})`],
    ["clone", clone === undefined ? null : `${clone.path} (branch ${clone.branch}), of ${clone.repository}`],
    ["sandbox", shown?.join("; ") ?? (unsandboxed === undefined ? null : `none: ${unsandboxed}`)],
  ];
}

/** What a person should know about where a new agent works. */
export function workspaceNotes({ name, workspace }: Pick<ShownAgent, "name" | "workspace">): string[] {
  const { clone, unsandboxed } = workspace ?? {};
  return [
    ...(clone === undefined
      ? []
      : [
          `${name} works in a clone of ${clone.repository}, without what is not committed there.\n  → ${fetching(name)}`,
        ]),
    ...(unsandboxed === undefined ? [] : [`${name} runs without a sandbox: ${unsandboxed}.\n  → ${NO_SANDBOX}`]),
  ];
}

const NO_SANDBOX = "docs/AGENTS.md#workspaces; --no-sandbox says that this is meant";

/** The command that brings its commits. */
export function fetching(name: string): string {
  return `holdfast agent fetch ${name}`;
}
