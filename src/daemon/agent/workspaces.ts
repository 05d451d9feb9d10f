// What an agent's workspace consists of on this machine: its repository, and what its sandbox shows
// (core/agent/workspace.ts explains how).
// WM1. All of it is determined and recorded when the agent is created: later changes on disk do not change what it may
//      see.
// WM2. The directory in which a provider keeps its conversations is visible to it, and created if it does not exist:
//      without it, nothing could be resumed.

import { isFault } from "../../base/fault.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { type Recipe, styleOf } from "../../core/agent/provider.ts";
import type { Sandbox, ToolPlaces, Workspace } from "../../core/agent/workspace.ts";
import { GIT_VARIABLES, type Worktree, worktreeOf } from "../../core/workflow/worktree.ts";
import { RUN } from "../../home/layout.ts";
import { makeDirectories, readWhole } from "../../log/file/file.ts";
import type { WantedSandbox, WantedWorkspace } from "../../wire/rpc/agent.ts";
import type { Disk } from "../../world/disk.ts";
import type { Self } from "../../world/self.ts";
import { repoOf, repositoryOf } from "../workflow/repo.ts";
import { tokenPath } from "./process-files.ts";
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
  if (wanted === undefined || (!wanted.worktree && wanted.sandbox === null))
    return ok({ cwd, environment: env, workspace: null });
  if (styleOf(recipe) === "request")
    return refused("no-process", "A bare model has no process to put anywhere.", "Leave --worktree and --sandbox out.");
  const repository = repositoryOf(place.disk, cwd);
  if (wanted.worktree && repository === undefined)
    return refused("no-repository", `${cwd} is not in a git repository.`, "Make it in one, or without --worktree.");
  const worktree = wanted.worktree && repository !== undefined ? ownWorktree(place, wish, repository) : null;
  const inside = worktree === null ? cwd : `${worktree.path}${cwd.slice(worktree.repository.length)}`;
  const given = { ...wish, cwd: inside, repository, worktree };
  const sandbox = wanted.sandbox === null ? ok(null) : sandboxOf(place.disk, given, wanted.sandbox, recipe);
  if (!sandbox.ok) return sandbox;
  const environment = worktree === null ? env : without(env, GIT_VARIABLES);
  return ok({ cwd: inside, environment, workspace: { worktree, sandbox: sandbox.value } });
}

function ownWorktree({ disk, home }: WorkspaceWorld, { id, name, cwd }: Wish, repository: string): Worktree {
  return worktreeOf({ id, name, repo: repoOf(disk, cwd) }, { home, repository });
}

function without(env: Env, names: readonly string[]): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

type Within = {
  readonly cwd: string;
  readonly env: Env;
  readonly repository: string | undefined;
  readonly worktree: Worktree | null;
};

function sandboxOf(disk: Disk, within: Within, wanted: WantedSandbox, recipe: Recipe): Result<Sandbox> {
  const missing = [...wanted.read, ...wanted.write].find((path) => disk.stat(path) === undefined);
  if (missing !== undefined)
    return refused("no-path", `${missing} does not exist.`, "A sandbox can only show paths that exist.");
  const { cwd, env, repository, worktree } = within;
  const states = statesOf(disk, recipe, env);
  if (!states.ok) return states;
  const around = worktree === null && repository !== undefined && repository !== cwd ? [repository] : [];
  return ok({
    read: [...around, ...wanted.read],
    write: [worktree?.path ?? cwd, ...states.value, ...wanted.write],
    git: repository === undefined ? null : gitOf(disk, repository),
    network: wanted.network,
  });
}

/** WM2 */
function statesOf(disk: Disk, { provider }: Recipe, env: Env): Result<string[]> {
  const home = env["HOME"];
  if (provider !== "claude" || home === undefined) return ok([]);
  const [directory, settings] = [env["CLAUDE_CONFIG_DIR"] ?? joinPath(home, ".claude"), joinPath(home, ".claude.json")];
  try {
    makeDirectories(disk, directory);
  } catch (error) {
    if (isFault(error)) return refused("no-path", `${directory} cannot be made: ${error.message}`, error.hint);
    throw error;
  }
  return ok([directory, ...(disk.stat(settings) === undefined ? [] : [settings])]);
}

/** The `.git` of the whole repository, even if `repository` is a worktree: there `.git` is a file that points to it. */
function gitOf(disk: Disk, repository: string): string {
  const at = joinPath(repository, ".git");
  if (disk.stat(at)?.kind === "directory") return at;
  const text = new TextDecoder().decode(readWhole(disk, at) ?? new Uint8Array(0));
  const own = /^gitdir: (\/.*)$/m.exec(text)?.[1];
  return own === undefined ? at : parentOf(parentOf(own));
}

/** What the shim needs wherever it runs: Bun, our source, our socket, and the agent's token. */
export function toolPlaces({ self, home }: { readonly self: Self; readonly home: string }, id: string): ToolPlaces {
  const words = self.command(SHIM);
  const root = (words.at(-1) ?? "").slice(0, -SHIM.length - 1);
  return {
    home,
    programs: [...new Set([words[0], root])],
    door: { from: toolDoor(home), at: joinPath(home, RUN) },
    token: tokenPath(home, id),
  };
}
