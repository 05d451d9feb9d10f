// Whether a new agent gets a sandbox that nobody asked for: the setting `agents.sandbox`.
// SB1. What the operator says about this agent counts first.
// SB2. `auto` is for programs of which we know everything that they need. Other kinds keep their logins and
//      conversations in places that we do not know, and a program that speaks our own protocol is the operator's own.
// SB3. If sandboxes do not work here, `auto` lets it run without one; the reason is recorded with it, and shown. What
//      the agent's directory contains is not such a reason: otherwise anyone who can write there could choose.

import { isFault } from "../../base/fault.ts";
import { TRIAL } from "../../core/agent/bwrap.ts";
import { type ProviderName, type Recipe, styleOf } from "../../core/agent/provider.ts";
import type { WantedSandbox, WantedWorkspace } from "../../wire/rpc/agent.ts";
import type { Children } from "../../world/children.ts";
import type { Clock } from "../../world/clock.ts";
import { within } from "../../world/wait.ts";

export type SandboxSetting = "auto" | boolean;
export type Sandboxing = { readonly wanted: WantedWorkspace | undefined; readonly unsandboxed?: string };

export type TrialWorld = {
  readonly children: Children;
  readonly clock: Clock;
  readonly self: { environment(): Readonly<Record<string, string>> };
};

/** SB2 */
const KNOWN: readonly ProviderName[] = ["claude"];
const OWN_PROGRAMS: readonly ProviderName[] = ["scripted"];
const PLAIN: WantedSandbox = { read: [], write: [], network: false, egress: [] };
/** It takes a few milliseconds. */
const TRIAL_MS = 5_000;
const SAID_CHARACTERS = 500;

export async function sandboxingOf(
  world: TrialWorld,
  setting: SandboxSetting,
  wanted: WantedWorkspace | undefined,
  recipe: Recipe,
): Promise<Sandboxing> {
  const isDecided = wanted?.unsandboxed === true || (wanted?.sandbox ?? null) !== null; // SB1
  if (isDecided || setting === false || styleOf(recipe) === "request") return { wanted };
  const sandboxed = { worktree: wanted?.worktree ?? false, sandbox: PLAIN };
  if (setting === true) return { wanted: sandboxed };
  if (OWN_PROGRAMS.includes(recipe.provider)) return { wanted };
  if (!KNOWN.includes(recipe.provider))
    return { wanted, unsandboxed: `Holdfast does not know which files a program of kind ${recipe.provider} needs` };
  const trouble = await trial(world);
  return trouble === undefined ? { wanted: sandboxed } : { wanted, unsandboxed: trouble }; // SB3
}

/** Makes a sandbox; returns why it cannot be made. */
async function trial({ children, clock, self }: TrialWorld): Promise<string | undefined> {
  const ended = Promise.withResolvers<boolean>();
  let said = "";
  try {
    const child = children.pipes(
      { argv: TRIAL, cwd: "/", env: { PATH: self.environment()["PATH"] ?? "" } },
      {
        output: (bytes) => {
          said = (said + new TextDecoder().decode(bytes)).slice(0, SAID_CHARACTERS);
        },
        ended: (ending) => ended.resolve(ending.kind === "exited" && ending.code === 0),
      },
    );
    child.closeInput();
    const works = await within(clock, TRIAL_MS, ended.promise);
    if (works === undefined) child.signal("SIGKILL");
    return works === true ? undefined : `bubblewrap does not work here: ${said.trim() || "it did not end in time"}`;
  } catch (error) {
    if (isFault(error)) return "bubblewrap (bwrap) is not installed, or not on the daemon's PATH";
    throw error;
  }
}
