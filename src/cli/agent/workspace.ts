// Where an agent works: parses the flags, and formats the result.
import { ok, type Result, refused } from "../../base/result.ts";
import type { Workspace } from "../../core/agent/workspace.ts";
import { egressOf } from "../../wire/proxy/egress.ts";
import type { ShownAgent, WantedWorkspace } from "../../wire/rpc/agent.ts";
import { flag, text } from "../flags.ts";

export type WorkspaceFlags = {
  readonly worktree?: boolean;
  readonly sandbox?: boolean;
  readonly bindRo?: readonly string[];
  readonly bind?: readonly string[];
  readonly network?: boolean;
  readonly noNetwork?: boolean;
  readonly egress?: readonly string[];
};

const many = (placeholder: string, brief: string) =>
  ({ kind: "parsed", parse: text, optional: true, variadic: true, placeholder, brief }) as const;

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
  bindRo: many("path", "A path that its sandbox may also read, but not change. May be repeated"),
  bind: many("path", "A path that its sandbox may also change. May be repeated"),
  egress: many("host,…", "Hosts that its sandbox may also reach (github.com, *.example.org, 10.0.0.5:5432)"),
  network: flag("A sandbox with the whole network, and this machine's loopback"),
  noNetwork: flag("A sandbox that reaches nothing, not even its provider; its Holdfast tools still work"),
} as const;

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

export function workspaceLines(workspace: Workspace | null): (readonly [string, string | null])[] {
  const { worktree = null, sandbox = null, clone, unsandboxed } = workspace ?? {};
  const more = (name: string, paths: readonly string[]) => (paths.length === 0 ? [] : [`${name} ${paths.join(", ")}`]);
  const shown = sandbox && [
    ...more("writes", sandbox.write),
    ...more("reads", sandbox.read),
    sandbox.network ? "network" : reachedText(sandbox.egress),
  ];
  return [
    ["worktree", worktree && `${worktree.path} (branch ${worktree.branch})`],
    ["clone", clone === undefined ? null : `${clone.path} (branch ${clone.branch}), of ${clone.repository}`],
    ["sandbox", shown?.join("; ") ?? (unsandboxed === undefined ? null : `none: ${unsandboxed}`)],
  ];
}

function reachedText(egress: readonly string[] | undefined): string {
  if (egress === undefined) return "no network";
  return ["reaches its provider", ...egress].join(", ");
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
