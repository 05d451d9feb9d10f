// What is there of the command lines of coding agents: the program, its version, a login, hooks, its conversations.
// LK1. No file of theirs is opened but the one with hooks, of which only names of events are kept. A login is known by
//      a file that exists, or the name of a variable: no secret is read.
// LK2. Versions are asked concurrently, without a shell, in a directory of nobody's, and within a time limit. Only CLIs
//      that we know are asked: another program may do anything if it gets `--version`.
// LK3. A program in the current directory is not run: a repository could bring its own `claude`.
import { isFault } from "../../base/fault.ts";
import { baseName, parentOf } from "../../base/path.ts";
import { AGENT_CLIS, type AgentCli, hookNames, keySet, type Place, pathOf } from "../../core/agent/agent-clis.ts";
import { findProgram } from "../../home/find-program.ts";
import { readJson } from "../../log/file/json-file.ts";
import { askProgram } from "../brief.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

export type Version =
  | { readonly kind: "known"; readonly text: string }
  | { readonly kind: "failed"; readonly code: number }
  | { readonly kind: "late" }
  /** LK2, LK3 */
  | { readonly kind: "not asked"; readonly why: string };

export type LookedAt = {
  readonly cli: AgentCli;
  /** The full path of the program. */
  readonly program: string;
  readonly version: Version;
  /** How it is logged in, as far as that can be seen: a variable's name, or a file. */
  readonly login: string | undefined;
  /** The events that it runs hooks for. */
  readonly hooks: readonly string[];
  /** Where its conversations are; undefined if it has none yet. */
  readonly sessions: string | undefined;
};

type LookWorld = Pick<DaemonCommandWorld, "console" | "disk" | "clock" | "self">;

/** Some programs load half a megabyte of script first, which takes more than a second on a busy machine. */
const VERSION_MS = 3_000;
/** For a command that is about nothing else. */
export const LONG_MS = 10_000;
const MAX_WORDS = 60;

/** The CLI that a program is; undefined if we do not know it. */
export function cliNamed(program: string): AgentCli | undefined {
  return AGENT_CLIS.find(({ name }) => name === baseName(program));
}

export async function lookAt(world: LookWorld, cli: AgentCli, program: string, ms = VERSION_MS): Promise<LookedAt> {
  const env = world.self.environment();
  const { login, hooks, sessions } = cli;
  const isThere = (place: Place) => thereAt(world, place, env);
  return {
    ...{ cli, program, version: await versionOf(world, { program, env, ms }) },
    login: keySet(cli, env) ?? isThere(login),
    hooks: hooks === undefined ? [] : hookNames(readJson(world.disk, isThere(hooks) ?? "")?.["hooks"]), // LK1
    sessions: isThere(sessions),
  };
}

/** All that are on the PATH (LK2). */
export function lookAtAll(world: LookWorld): Promise<LookedAt[]> {
  const path = world.self.environment()["PATH"] ?? "";
  const found = AGENT_CLIS.flatMap((cli) => {
    const program = findProgram(world.disk, path, cli.name);
    return program === undefined ? [] : [{ cli, program }];
  });
  return Promise.all(found.map(({ cli, program }) => lookAt(world, cli, program)));
}

type Asking = { readonly program: string; readonly env: Readonly<Record<string, string>>; readonly ms: number };

async function versionOf(world: LookWorld, { program, env, ms }: Asking): Promise<Version> {
  if (parentOf(program) === world.console.absolute("."))
    return { kind: "not asked", why: "it is in the current directory" }; // LK3
  const answer = await askProgram(world, { argv: [program, "--version"], env, ms });
  if (answer.kind !== "ended") return { kind: "late" };
  const [words = ""] = (answer.out.trim() || answer.err.trim()).split("\n");
  return answer.code === 0 ? { kind: "known", text: words.slice(0, MAX_WORDS) } : { kind: "failed", code: answer.code };
}

/** Of files that belong to others, some cannot be looked at: they count as not there. */
function thereAt({ disk }: LookWorld, place: Place, env: Readonly<Record<string, string>>): string | undefined {
  const path = pathOf(place, env);
  try {
    return path === undefined || disk.stat(path) === undefined ? undefined : path;
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

/** "2.1.0 (Claude Code)". */
export function versionText(version: Version): string {
  return version.kind === "known" ? version.text : `(${versionTrouble(version)})`;
}

/** Why its version is not known. */
export function versionTrouble(version: Version): string | undefined {
  if (version.kind === "known") return undefined;
  if (version.kind === "failed") return `does not start: code ${version.code}`;
  return version.kind === "late" ? "version unknown" : `version not asked: ${version.why}`;
}
