// Where an agent's program is installed, so that its sandbox can show it (WS8 of core/agent/workspace.ts).
// PP1. What starts it, and no more: the file behind its links, or what it belongs to (packages of Node, an environment
//      of Python, Homebrew), and the same of the program that its first line names (#!).
// PP2. Nothing that the agent can change is followed: a link of its own could show it any file.
// PP3. It is looked up at every start, because updates replace it.

import { baseName, joinPath, parentOf } from "../../base/path.ts";
import { isSystem, isWithin } from "../../core/agent/bwrap.ts";
import type { Sandbox, ToolPlaces } from "../../core/agent/workspace.ts";
import { findProgram } from "../../home/find-program.ts";
import { readWhole } from "../../log/file/file.ts";
import type { Disk } from "../../world/disk.ts";

type Places = Pick<ToolPlaces, "programs" | "links">;

/** A script, `env`, its interpreter, and one more. */
const MAX_PROGRAMS = 4;
const FIRST_LINE_BYTES = 512;

export function programPlaces(
  disk: Disk,
  { read, write }: Pick<Sandbox, "read" | "write">,
  start: { readonly program: string; readonly path: string },
): Places {
  const within = (at: string, tops: readonly string[]) => tops.some((top) => isWithin(at, top));
  const isShown = (at: string) => isSystem(at) || within(at, [...read, ...write]);
  const found = programsOf(disk, start, (at) => within(at, write));
  const programs = [...new Set(found.filter(({ real }) => !isShown(real)).map(({ real }) => installation(disk, real)))];
  const links = found.filter(({ at, real }) => at !== real && !isShown(at) && !within(at, programs));
  return { programs, links: links.map(({ at, real }) => ({ at, to: real })) };
}

type Program = { readonly at: string; readonly real: string };

/** The program, then the one that runs it, and so on. `isTheirs`: whether the agent can change it (PP2). */
function programsOf(
  disk: Disk,
  { program, path }: { readonly program: string; readonly path: string },
  isTheirs: (path: string) => boolean,
): Program[] {
  const found: Program[] = [];
  let next: string | undefined = program;
  while (next !== undefined && found.length < MAX_PROGRAMS) {
    const at: string | undefined = next.includes("/") ? next : findProgram(disk, path, next);
    const real: string | undefined = at?.startsWith("/") ? disk.realPath(at) : undefined;
    if (at === undefined || real === undefined || isTheirs(at) || isTheirs(real)) break;
    if (disk.stat(real)?.kind !== "file") break;
    found.push({ at, real });
    next = interpreterOf(disk, real);
  }
  return found;
}

/** "#!/usr/bin/env node" → "node" */
function interpreterOf(disk: Disk, path: string): string | undefined {
  const [line = ""] = new TextDecoder().decode(readWhole(disk, path, FIRST_LINE_BYTES)).split("\n");
  const [program, ...words] = line.startsWith("#!") ? line.slice(2).trim().split(/\s+/) : [];
  if (program === undefined || baseName(program) !== "env") return program;
  return words.find((word) => !word.startsWith("-") && !word.includes("="));
}

/** PP1 */
function installation(disk: Disk, real: string): string {
  const whole = WHOLE.exec(real)?.[1];
  if (whole !== undefined) return whole;
  const environment = parentOf(parentOf(real));
  return disk.stat(joinPath(environment, "pyvenv.cfg")) === undefined ? real : environment;
}

/** Packages of Node, or all that Homebrew has installed: its programs use each other's libraries. */
const WHOLE = /^(.*?(?:\/node_modules|(?=\/Cellar\/)))\//;
