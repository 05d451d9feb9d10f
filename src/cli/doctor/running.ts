// Which processes serve the home: watchdog, daemon and web host according to their locks, and whether that is as
// wanted.
// DR1. The kernel holds a lock only while its owner lives. The file of a dead owner is not a lock: the next owner takes
//      it, and it is never removed (log/file/lock.ts, L2 and L3). So nothing needs repair; the last owner is only
//      shown.

import { joinPath } from "../../base/path.ts";
import { RECOVERY_STATE, REPORTS, RUN } from "../../home/layout.ts";
import { lockOwner } from "../../home/lock-record.ts";
import { readSafeMode } from "../../home/safe-mode.ts";
import { wantedPath } from "../../home/wanted.ts";
import { readJson } from "../../log/file/json-file.ts";
import type { Report } from "../../wire/rpc/rpc.ts";
import { count } from "../print.ts";
import { type Finding, fine, problem, type Site, some, warning } from "./check.ts";

const LOCKS = ["watchdog", "daemon", "web"] as const;

export async function checkLocks(site: Site): Promise<Finding[]> {
  const held = LOCKS.map((name) => ({
    name,
    owner: lockOwner(site.world.disk, joinPath(site.home, `${RUN}/${name}.lock`)),
  }));
  const owners = held.map(({ name, owner }) => ({ name, owner, alive: owner && site.world.processes.alive(owner) }));
  const words = owners.map(({ name, owner, alive }) => `${name} ${ownerWords(owner?.pid, alive === true)}`).join(", ");
  const runs = (name: string) => owners.some((one) => one.name === name && one.alive === true);
  return [judge(site, words, runs("watchdog"), runs("daemon"))];
}

/** DR1 */
function ownerWords(pid: number | undefined, alive: boolean): string {
  if (pid === undefined) return "not running";
  return alive ? `pid ${pid}` : `not running (last pid ${pid})`;
}

function judge({ world, home }: Site, words: string, watchdog: boolean, daemon: boolean): Finding {
  const wanted = readJson(world.disk, wantedPath(home))?.["wanted"];
  if (wanted === "up" && !watchdog && !daemon)
    return problem("locks", {
      what: `Holdfast is not running (${words})`,
      why: "it should be up",
      next: "holdfast up",
    });
  if (wanted === "up" && !daemon)
    return problem("locks", { what: `the daemon is not running (${words})`, why: NO_DAEMON, next: "holdfast logs" });
  if (wanted === "up" && !watchdog)
    return problem("locks", { what: `the watchdog is not running (${words})`, why: NO_WATCHDOG, next: "holdfast up" });
  if (wanted === "down" && (watchdog || daemon))
    return warning("locks", {
      what: `Holdfast is still running (${words})`,
      why: "it should be down",
      next: "holdfast down",
    });
  return fine("locks", wanted === "up" ? words : `Holdfast is down, as requested (${words})`);
}

const NO_DAEMON = "the watchdog is starting it, or waits because it crashed too often";
const NO_WATCHDOG = "the daemon would not be restarted after a crash";

export async function checkRecovery({ world, home }: Site): Promise<Finding[]> {
  const mode = readSafeMode(world.disk, home);
  const safe = mode.active
    ? [problem("safe-mode", { what: "on", why: mode.reason, next: "holdfast logs, then: holdfast safe-mode exit" })]
    : [];
  return [...safe, lastRecovery(world.disk, home)];
}

function lastRecovery(disk: Site["world"]["disk"], home: string): Finding {
  const failed = readJson(disk, joinPath(home, RECOVERY_STATE));
  const stage = typeof failed?.["stage"] === "string" ? failed["stage"] : "";
  if (stage.endsWith("_FAILED"))
    return problem("recovery", {
      what: `stopped (${stage})`,
      why: String(failed?.["lastError"]),
      next: "holdfast recovery retry",
    });
  const name = disk
    .list(joinPath(home, REPORTS))
    .filter((file) => file.endsWith(".json"))
    .sort()
    .at(-1);
  if (name === undefined) return fine("recovery", "none so far");
  const report = readJson(disk, joinPath(home, `${REPORTS}/${name}`));
  if (!isReport(report))
    return warning("recovery", {
      what: `${name} cannot be read`,
      why: "it is not a report",
      next: "holdfast log verify",
    });
  return judgeReport(report);
}

type Judged = Pick<Report, "at" | "cause" | "from" | "items">;

function isReport(value: unknown): value is Judged {
  return typeof value === "object" && value !== null && "items" in value && Array.isArray(value.items);
}

function judgeReport({ at, cause, from, items }: Judged): Finding {
  const why = from === undefined ? cause : `${cause} from ${from}`;
  const open = items.filter(({ fate }) => fate === "needs you" || fate === "could not");
  if (open.length === 0) return fine("recovery", `the last one (${at}, ${why}) left nothing to do`);
  const names = some(open.map(({ name }) => name));
  const what = `the last one (${at}, ${why}) left ${count(open.length, "item")} for you: ${names}`;
  return warning("recovery", { what, why: open[0]?.reason ?? "", next: "holdfast recovery report" });
}
