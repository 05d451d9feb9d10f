// Ends the processes of agents, for `down --kill`. The agents remain: at the next `up` each follows its recovery
// policy.
// EA1. Only done while no daemon is running, because a daemon would restart them.
// EA2. The holder of an agent's process is found through its claim on disk, unless that is the copied claim of another
//      home. A holder that gets SIGTERM ends its program first, by force after a few seconds.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { agentSession } from "../../core/agent/agent.ts";
import { readHolder, startedHere } from "../../home/held/holder-files.ts";
import type { Disk } from "../../world/disk.ts";
import type { ProcessIdentity } from "../../world/process.ts";
import { Pauses } from "../../world/wait.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { count } from "../print.ts";

/** A holder gives its program a few seconds. */
const END_LIMITS = { firstMs: 5, mostMs: 100, allMs: 30_000 };

export async function endAgentProcesses(
  { disk, processes, clock }: DaemonCommandWorld,
  home: string,
): Promise<Result<void>> {
  const holders = holdersIn(disk, home).filter((holder) => processes.alive(holder));
  for (const holder of holders) processes.kill(holder, "SIGTERM"); // EA2
  const pauses = new Pauses(clock, END_LIMITS);
  const left = () => holders.filter((holder) => processes.alive(holder));
  while (left().length > 0 && (await pauses.next()));
  const names = left().map(({ pid }) => pid);
  if (names.length === 0) return ok(undefined);
  const message = `${count(names.length, "agent")} could not be ended: holders ${names.join(", ")}.`;
  return refused("still-running", message, "They may be waiting for a disk: `ps` shows their state.");
}

function holdersIn(disk: Disk, home: string): ProcessIdentity[] {
  const agents = joinPath(home, agentSession(""));
  return namesIn(disk, agents).flatMap((agent) => {
    const processes = joinPath(agents, `${agent}/processes`);
    const directories = namesIn(disk, processes).map((generation) => joinPath(processes, generation));
    const ours = directories.filter((directory) => startedHere({ disk, home }, directory)); // EA2
    return ours.flatMap((directory) => readHolder({ disk, directory }) ?? []);
  });
}

function namesIn(disk: Disk, path: string): string[] {
  try {
    return disk.list(path);
  } catch (error) {
    if (isFault(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}
