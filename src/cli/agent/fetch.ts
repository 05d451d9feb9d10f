// `holdfast agent fetch`: brings an agent's commits from its clone into the repository that it was cloned from.
// AF1. Whatever is in the clone, nothing of it runs outside of a sandbox (core/agent/clone.ts).
import { ok, refused } from "../../base/result.ts";
import { type Clone, fetchWords } from "../../core/agent/clone.ts";
import { typable } from "../../core/shell.ts";
import { GIT_VARIABLES } from "../../core/workflow/worktree.ts";
import type { ShownAgent } from "../../wire/rpc/agent.ts";
import { runInOurPlace } from "../../world/real/in-our-place.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { printJson, say } from "../print.ts";
import { onAgent } from "./find.ts";

export type FetchFlags = DataFlags & { readonly print?: boolean };

async function fetchCommits(world: DaemonCommandWorld, flags: FetchFlags, key: string): Promise<Exit> {
  const shown = await onAgent<ShownAgent>(world, flags, key, (client, { id }) => client.call("agent.show", { id }));
  if (!shown.ok) return shown;
  const { id, name, workspace } = shown.value;
  const clone = workspace?.clone;
  if (clone === undefined)
    return refused("no-clone", `${name} has no clone of its own.`, "holdfast agent inspect shows where it works.");
  if (flags.print) return flags.json ? printFetch(world, { id, name, clone }) : print(world, clone);
  if (world.disk.stat(clone.path) === undefined)
    return refused("no-clone", `${name} has not started yet: its clone does not exist.`, "Send it a message.");
  const fetched = await run(world, clone);
  if (!fetched.ok) return fetched;
  if (flags.json) return printFetch(world, { id, name, clone });
  const { repository, branch } = clone;
  await say(world.console, `its commits are in ${repository}, on the remote-tracking branch ${branch}.`);
  return fetched;
}

type Fetch = { readonly id: string; readonly name: string; readonly clone: Clone };

/** git's own messages go to stderr. */
async function printFetch({ console }: DaemonCommandWorld, { id, name, clone }: Fetch): Promise<Exit> {
  const { repository, branch } = clone;
  await printJson(console, { id, name, repository, branch, command: fetchWords(clone) });
  return ok(EXIT.ok);
}

async function print({ console }: DaemonCommandWorld, clone: Clone): Promise<Exit> {
  const line = typable(fetchWords(clone), "sh");
  if (line === undefined) return refused("odd-path", `${clone.path} cannot be typed.`, "Leave --print out.");
  await console.out.write(`${line}\n`);
  return ok(EXIT.ok);
}

/** AF1 */
async function run({ self }: DaemonCommandWorld, clone: Clone): Promise<Exit> {
  const ours = Object.entries(self.environment()).filter(([name]) => !GIT_VARIABLES.includes(name));
  const child = runInOurPlace({ argv: fetchWords(clone), cwd: "/", env: Object.fromEntries(ours) });
  const ending = await child.ended;
  if (ending.kind !== "exited" || ending.code !== 0)
    return refused("git-failed", "git could not fetch its commits.", "Nothing was changed. git says why, above.");
  return ok(EXIT.ok);
}

export const fetchCommand = withDaemonWorld(fetchCommits);
