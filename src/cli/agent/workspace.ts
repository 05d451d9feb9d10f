// Where an agent works: parses the flags, and formats the result.
import { ok, type Result, refused } from "../../base/result.ts";
import { hasKnownService } from "../../core/agent/provider-access.ts";
import { egressOf } from "../../wire/proxy/egress.ts";
import type { ShownAgent, WantedWorkspace } from "../../wire/rpc/agent.ts";
import type { WorkspaceFlags } from "./workspace-flags.ts";

/** What it should see implies a sandbox. */
export function wantedWorkspace(
  flags: WorkspaceFlags,
  absolute: (path: string) => string,
): Result<{ readonly workspace?: WantedWorkspace }> {
  const { worktree = false, sandbox, bindRo = [], bind = [] } = flags;
  const [network, egress] = [networkOf(flags), egressOf(flags.egress ?? [])];
  const implied = bindRo.length > 0 || bind.length > 0 || network !== "proxy" || flags.egress !== undefined;
  if (sandbox === false && implied)
    return refused("usage", "--bind-ro, --bind and those of the network need a sandbox.", "Leave --no-sandbox out.");
  if (network === "unclear")
    return refused("usage", "--egress, --network and --no-network exclude each other.", "Choose one of them.");
  if (!egress.ok) return egress;
  if (sandbox === false) return ok({ workspace: { worktree, sandbox: null, unsandboxed: true } });
  const [read, write] = [bindRo.map(absolute), bind.map(absolute)];
  const reached = { network: network === "all", ...(network === "proxy" && { egress: egress.value }) };
  if (sandbox || implied) return ok({ workspace: { worktree, sandbox: { read, write, ...reached } } });
  return ok(worktree ? { workspace: { worktree, sandbox: null } } : {});
}

function networkOf({ network = false, noNetwork = false, egress }: WorkspaceFlags) {
  if ([network, noNetwork, egress !== undefined].filter(Boolean).length > 1) return "unclear";
  return network ? "all" : noNetwork ? "none" : "proxy";
}

type Placed = Pick<ShownAgent, "workspace" | "provider" | "command">;

export function workspaceLines(agent: Placed): (readonly [string, string | null])[] {
  const { worktree = null, sandbox = null, clone, unsandboxed } = agent.workspace ?? {};
  const more = (name: string, paths: readonly string[]) => (paths.length === 0 ? [] : [`${name} ${paths.join(", ")}`]);
  const shown = sandbox && [
    ...more("writes", sandbox.write),
    ...more("reads", sandbox.read),
    sandbox.network ? "network" : reachedText(agent, sandbox.egress),
  ];
  return [
    ["worktree", worktree && `${worktree.path} (branch ${worktree.branch})`],
    ["clone", clone === undefined ? null : `${clone.path} (branch ${clone.branch}), of ${clone.repository}`],
    ["sandbox", shown?.join("; ") ?? (unsandboxed === undefined ? null : `none: ${unsandboxed}`)],
  ];
}

/** Without a list it has no proxy either (`--no-network`). */
function reachedText(agent: Placed, egress: readonly string[] | undefined): string {
  const reached = egress === undefined ? [] : [...(hasKnownService(agent) ? ["its provider"] : []), ...egress];
  return reached.length === 0 ? "no network" : `reaches ${reached.join(", ")}`;
}

/** What a person should know about where a new agent works. */
export function workspaceNotes({ name, workspace }: Pick<ShownAgent, "name" | "workspace">): string[] {
  const { clone, unsandboxed } = workspace ?? {};
  return [
    ...(clone === undefined
      ? []
      : [`${name} works in a clone of ${clone.repository}: uncommitted changes are not in it.\n  → ${fetching(name)}`]),
    ...(unsandboxed === undefined ? [] : [`${name} runs without a sandbox: ${unsandboxed}.\n  → ${NO_SANDBOX}`]),
  ];
}

const NO_SANDBOX = "docs/AGENTS.md#workspaces; --no-sandbox says that this is meant";

/** The command that brings its commits. */
export function fetching(name: string): string {
  return `holdfast agent fetch ${name}`;
}
