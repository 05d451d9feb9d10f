// What becomes of an upgrade whose own process is gone, because it was killed or the power went: the version before has
// another process decide whether the new one stays (UP3 of home/upgrade.ts).
// UG1. Only our own file and those beside it are started: the record may have come with a home from elsewhere.
import { logPath } from "../home/run-log.ts";
import { readUpgrade, replacedName } from "../home/upgrade.ts";
import type { Children } from "../world/children.ts";
import type { Disk } from "../world/disk.ts";
import type { Processes } from "../world/process.ts";

type World = { readonly disk: Disk; readonly processes: Processes; readonly children: Children };
type Start = {
  readonly home: string;
  /** Undefined if we run from the sources. */
  readonly binary: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  say(text: string): void;
};

/** Called every few seconds. Throws a Fault if it cannot be started; the next call tries again. */
export function lookAtUpgrade({ disk, processes, children }: World, { home, binary, env, say }: Start): void {
  const record = readUpgrade(disk, home);
  if (record === undefined || record.path !== binary || processes.alive(record.by)) return; // UG1
  const before = replacedName(record.path);
  const program = disk.stat(before) === undefined ? record.path : before;
  say(`the upgrade to version ${record.to.version} was interrupted: ${program} decides`);
  children.detached({ argv: [program, "__upgrade", "--home", home], cwd: home, env }, logPath(home));
}
