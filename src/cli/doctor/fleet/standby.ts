// The standby program of this home: whether it runs, what it ships, and the copies of other homes that it keeps.

import { awayMs } from "../../../core/fleet/watch.ts";
import type { HostRow } from "../../../fleet/calls.ts";
import type { StandbyStatus } from "../../../home/standby-status.ts";
import { spanText } from "../../agent/row.ts";
import { type Finding, fine, problem, some, warning } from "../check.ts";

/** Rounds follow each other within seconds, unless one has very much to ship. */
const SHIPPED_LATE_MS = 5 * 60_000;
/** A mirror is looked at with each look at the fleet; a large one takes its time. */
const MIRROR_LATE_MS = 10 * 60_000;

export type StandbySeen = {
  readonly now: number;
  /** Of the program that holds this home's lock, and of the one that acts for this host; undefined: none. */
  readonly pid: number | undefined;
  readonly actingPid: number | undefined;
  readonly status: StandbyStatus | undefined;
  /** Whether this home is the host's, and should be up. */
  readonly isWanted: boolean;
  readonly isOwner: boolean;
};

export function checkProgram({ pid, actingPid, status, isWanted }: StandbySeen): Finding {
  const name = "fleet-standby";
  if (pid === undefined && !isWanted) return fine(name, "does not run, as this home is down");
  if (pid === undefined) {
    const why = "nothing is shipped, no other home is taken over, and nothing stops this one's programs in time";
    return problem(name, { what: "the standby program does not run", why, next: "holdfast logs; holdfast up" });
  }
  const words = status?.pid === pid ? status : undefined;
  if (words?.database != null)
    return warning(name, {
      what: `process ${pid} cannot look at the fleet`,
      why: words.database,
      next: "holdfast logs",
    });
  if (actingPid === undefined) {
    const why = "another home's program did, and has ended; the next one follows within a lease";
    return warning(name, { what: `process ${pid} runs, and none acts for this host`, why, next: "holdfast logs" });
  }
  const acts = actingPid === pid ? "acts for this host" : `process ${actingPid} acts for this host`;
  const doing = words?.doing == null ? "" : `; ${words.doing}`;
  if (words?.takeover == null) return fine(name, `process ${pid} runs, and ${acts}${doing}`);
  const why = words.takeover;
  return warning(name, {
    what: `process ${pid} ${acts}; the last takeover failed`,
    why,
    next: "holdfast fleet events",
  });
}

/** `host`: as the database has it. */
export function checkAnnounced(host: HostRow | undefined, leaseS: number, actingPid: number | undefined): Finding[] {
  if (actingPid === undefined || (host !== undefined && host.agoMs <= awayMs(leaseS * 1_000))) return [];
  const what =
    host === undefined ? "this host has never announced itself" : `last heard of ${spanText(host.agoMs)} ago`;
  return [
    warning("fleet-host", {
      what,
      why: "others take it for one that is away, and move no home to it",
      next: "holdfast logs",
    }),
  ];
}

export function checkShipping({ now, pid, status, isOwner }: StandbySeen): Finding[] {
  const name = "fleet-shipping";
  if (!isOwner || pid === undefined || status === undefined) return [];
  const { shipping, shippedAt } = status;
  const next = "holdfast logs; holdfast fleet status";
  const last = shippedAt == null ? undefined : now - Date.parse(shippedAt);
  const since = last === undefined ? "nothing was shipped since it started" : `shipped ${spanText(last)} ago`;
  if (shipping !== null) return [warning(name, { what: `the last round failed; ${since}`, why: shipping, next })];
  if (last !== undefined && last > SHIPPED_LATE_MS) {
    const why = "after a takeover, screens and the ends of tapes would be as old as that";
    return [warning(name, { what: since, why, next })];
  }
  return [fine(name, since)];
}

export function checkMirrors({ now, status }: StandbySeen): Finding[] {
  const name = "fleet-mirrors";
  const mirrors = status?.actsForHost === true ? status.mirrors : [];
  if (mirrors.length === 0) return [];
  const aged = mirrors.map((mirror) => ({
    ...mirror,
    old: mirror.at === undefined ? undefined : now - Date.parse(mirror.at),
  }));
  const bad = aged.filter(({ trouble, old }) => trouble !== undefined || (old ?? 0) > MIRROR_LATE_MS);
  const words = (list: typeof aged) => some(list.map(({ name: home, old, lag }) => `${home} ${ageText(old, lag)}`));
  if (bad.length === 0) return [fine(name, words(aged))];
  const why = bad.find(({ trouble }) => trouble !== undefined)?.trouble ?? "they were not brought up to date since";
  return [warning(name, { what: `copies that are behind: ${words(bad)}`, why, next: "holdfast logs" })];
}

function ageText(old: number | undefined, lag: number): string {
  if (old === undefined) return "(not copied yet)";
  return lag > 0 ? `(${spanText(old)} old, ${lag} entries behind)` : `(${spanText(old)} old)`;
}
