// What an agent's workspace consists of on this machine: its repository, and what its sandbox shows
// (core/agent/workspace.ts explains how).
// WM1. All of it is determined and recorded when the agent is created: later changes on disk do not change what it may
//      see.
// WM2. A provider keeps its conversations in a directory of its own (claude-state.ts).
// WM3. No git repository of the user's can be written to, nor the home directory, nor our own home. (What an agent
//      leaves in a directory that it shares with the user is as trustworthy as the agent.)
// WM4. Paths are recorded without symbolic links: one that is exchanged later leads nowhere else.

import { baseName, joinPath } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { Agent } from "../../core/agent/agent.ts";
import { isWithin } from "../../core/agent/bwrap.ts";
import type { Clone } from "../../core/agent/clone.ts";
import { type Recipe, styleOf } from "../../core/agent/provider.ts";
import { canHideKey, hidesKey } from "../../core/agent/provider-access.ts";
import type { Sandbox, ToolPlaces, Workspace } from "../../core/agent/workspace.ts";
import { GIT_VARIABLES, type Worktree, worktreeOf } from "../../core/workflow/worktree.ts";
import { CLONES, RUN } from "../../home/layout.ts";
import { egressOf } from "../../wire/proxy/egress.ts";
import type { WantedSandbox, WantedWorkspace } from "../../wire/rpc/agent.ts";
import type { Disk } from "../../world/disk.ts";
import type { Self } from "../../world/self.ts";
import { repoOf, repositoryOf } from "../workflow/repo.ts";
import { claudeState, userSettings } from "./claude-state.ts";
import { gitBeside } from "./origin.ts";
import { tokenPath } from "./process-files.ts";
import { proxyPlaces } from "./proxies.ts";
import { toolDoor } from "./tool-door.ts";

type Env = Readonly<Record<string, string>>;
type WorkspaceWorld = { readonly disk: Disk; readonly home: string };
type Wish = {
  readonly id: string;
  readonly name: string;
  readonly cwd: string;
  readonly env: Env;
  readonly wanted: WantedWorkspace | undefined;
};
export type Placed = { readonly cwd: string; readonly environment: Env; readonly workspace: Workspace | null };

export const SHIM = "src/shim/main.ts";

/** WM1 */
export function workspaceOf(place: WorkspaceWorld, wish: Wish, recipe: Recipe): Result<Placed> {
  const { cwd, env, wanted } = wish;
  const unsafe = hidesKey(recipe) ? whyNotHidden(recipe, wanted?.sandbox ?? null) : undefined;
  if (unsafe !== undefined) return unsafe;
  if (wanted === undefined || (!wanted.worktree && wanted.sandbox === null))
    return ok({ cwd, environment: env, workspace: null });
  if (styleOf(recipe) === "request")
    return refused("no-process", "A bare model has no process to put anywhere.", "Leave --worktree and --sandbox out.");
  const real = wanted.sandbox === null ? cwd : (place.disk.realPath(cwd) ?? cwd); // WM4
  const repository = repositoryOf(place.disk, real);
  if (wanted.worktree && repository === undefined)
    return refused("no-repository", `${cwd} is not in a git repository.`, "Make it in one, or without --worktree.");
  const within = { ...wish, cwd: real, repository };
  return wanted.sandbox === null ? inWorktree(place, within) : inSandbox(place, within, wanted.sandbox);
}

type Within = Wish & { readonly repository: string | undefined };

function inWorktree(place: WorkspaceWorld, wish: Within): Result<Placed> {
  const { cwd, env, repository = cwd } = wish;
  const worktree = ownWorktree(place, wish, repository);
  const workspace = { worktree, sandbox: null };
  return ok({ cwd: `${worktree.path}${cwd.slice(repository.length)}`, environment: withoutGit(env), workspace });
}

/** In a repository it works in a clone of its own, never in the repository (WM3). */
function inSandbox(place: WorkspaceWorld, wish: Within, wanted: WantedSandbox): Result<Placed> {
  const { cwd, env, repository } = wish;
  if (repository === undefined) {
    const sandbox = sandboxOf(place, wish, { ...wanted, write: [cwd, ...wanted.write] });
    return sandbox.ok ? ok({ cwd, environment: env, workspace: { worktree: null, sandbox: sandbox.value } }) : sandbox;
  }
  const git = gitBeside(place.disk, repository);
  if (!git.ok) return git;
  const own = ownWorktree(place, wish, repository);
  const clone: Clone = { ...own, path: joinPath(place.home, `${CLONES}/${baseName(own.path)}`), git: git.value };
  const sandbox = sandboxOf(place, wish, wanted);
  if (!sandbox.ok) return sandbox;
  const shown = { ...sandbox.value, write: [clone.path, ...sandbox.value.write] };
  const inside = `${clone.path}${cwd.slice(repository.length)}`;
  return ok({ cwd: inside, environment: withoutGit(env), workspace: { worktree: null, sandbox: shown, clone } });
}

/** A key that stays outside needs a proxy, and a sandbox whose loopback is its own: other users could use it, too. */
function whyNotHidden(recipe: Recipe, sandbox: WantedSandbox | null): Result<never> | undefined {
  const hint = "Create it with --sandbox and without --network and --no-network, or on a provider without key_proxy.";
  if (!canHideKey(recipe))
    return refused("no-key-proxy", "key_proxy is only for Claude Code.", "Remove it from this provider.");
  if (sandbox?.egress !== undefined && !sandbox.network) return undefined;
  return refused("no-key-proxy", "A provider with key_proxy needs a sandbox with a proxy.", hint);
}

function ownWorktree({ disk, home }: WorkspaceWorld, { id, name, cwd }: Wish, repository: string): Worktree {
  return worktreeOf({ id, name, repo: repoOf(disk, cwd) }, { home, repository });
}

function withoutGit(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !GIT_VARIABLES.includes(name)));
}

function sandboxOf(place: WorkspaceWorld, { env }: Wish, wanted: WantedSandbox): Result<Sandbox> {
  const { disk } = place;
  const missing = [...wanted.read, ...wanted.write].find((path) => disk.stat(path) === undefined);
  if (missing !== undefined)
    return refused("no-path", `${missing} does not exist.`, "A sandbox can only show paths that exist.");
  const write = wanted.write.map((path) => disk.realPath(path) ?? path); // WM4
  const unsafe = write.map((path) => whyNotWritable(place, env, path)).find((why) => why !== undefined);
  if (unsafe !== undefined) return refused("unsafe-path", unsafe, UNSAFE_HINT);
  const egress = wanted.egress === undefined ? ok(undefined) : egressOf(wanted.egress);
  if (!egress.ok) return egress;
  const { read, network } = wanted;
  const reached = { network, ...(egress.value !== undefined && { egress: egress.value }) };
  return ok({ read, write, git: null, ...reached, settings: userSettings(env) ?? null }); // WM2
}

const UNSAFE_HINT = "Choose a directory of its own (--cwd), show it read-only (--bind-ro), or use --no-sandbox.";

/** WM3 */
function whyNotWritable({ disk, home }: WorkspaceWorld, env: Env, path: string): string | undefined {
  const contains = (at: string) => isWithin(disk.realPath(at) ?? at, path);
  if (contains(home)) return `${path} contains Holdfast's own files.`;
  if (contains(env["HOME"] ?? home)) return `${path} contains your home directory, and the keys in it.`;
  if (path.split("/").includes(".git")) return `${path} is in a git directory, which decides what your git runs.`;
  const near = [path, ...disk.list(path).map((name) => joinPath(path, name))];
  const found = near.find((at) => disk.lstat(joinPath(at, ".git")) !== undefined);
  return found && `${found} is a git repository, which decides what your git runs.`;
}

/** What the shim needs wherever it runs: our programs, our socket, and the agent's token. */
export function toolPlaces({ self, home }: { readonly self: Self; readonly home: string }, agent: Agent): ToolPlaces {
  return {
    home,
    programs: self.files(),
    door: { from: toolDoor(home), at: joinPath(home, RUN) },
    token: tokenPath(home, agent.id),
    links: [],
    path: agent.plan.environment["PATH"],
    state: claudeState(home, agent),
    proxy: proxyPlaces(self, home, agent),
  };
}
