// The conversations of agent CLIs: whether those that are installed keep them as we know it, so that a terminal comes
// back in the right one.
// DS1. The version is read from the files of the installation; nothing is started.
import { isFault } from "../../base/fault.ts";
import { isRecord, jsonIn } from "../../base/json.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import { AGENT_NAMES, type AgentName } from "../../core/terminal/agent-names.ts";
import { storeDoubt } from "../../core/terminal/agent-stores.ts";
import { findProgram } from "../../home/find-program.ts";
import { readWhole } from "../../log/file/file.ts";
import type { Disk } from "../../world/disk.ts";
import { type Finding, fine, type Site, warning } from "./check.ts";

/** A package's program lies at most this deep in it. */
const LEVELS = 5;
const PACKAGE_BYTES = 256 << 10;

export async function checkAgentStores({ world }: Site): Promise<Finding[]> {
  const path = world.self.environment()["PATH"] ?? "";
  return AGENT_NAMES.flatMap((name) => {
    const program = findProgram(world.disk, path, name);
    const doubt = program === undefined ? undefined : storeDoubt(name, versionOf(world.disk, program, name) ?? "");
    if (doubt === undefined) return [];
    if (name === "cursor-agent") return [fine("conversations", doubt)]; // No version of it is known.
    const why = "after a crash, its terminal may come back with the command typed and not run";
    const next = "`holdfast ls` shows the conversation of a terminal if it is found; else see docs/RECOVERY.md";
    return [warning("conversations", { what: doubt, why, next })];
  });
}

/** DS1. Installers either have the version in the path, or a package.json above the program. */
function versionOf(disk: Disk, program: string, name: AgentName): string | undefined {
  try {
    const real = disk.realPath(program) ?? program;
    const named = /\/(\d+\.\d+\.\d+)(?:\/|$)/.exec(real)?.[1];
    return named ?? packageVersion(disk, real, name);
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

function packageVersion(disk: Disk, program: string, name: AgentName): string | undefined {
  let directory = parentOf(program);
  for (let level = 0; level < LEVELS && directory !== "/"; level += 1, directory = parentOf(directory)) {
    const bytes = readWhole(disk, joinPath(directory, "package.json"), PACKAGE_BYTES);
    const found = bytes === undefined ? undefined : jsonIn(new TextDecoder().decode(bytes));
    if (!isRecord(found) || typeof found["version"] !== "string") continue;
    return String(found["name"]).includes(name) ? found["version"] : undefined;
  }
  return undefined;
}
