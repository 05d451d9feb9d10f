// The health of this home in a few facts: what a person would ask first.
import type { ProgramHealth, WebHealth, WebUsage } from "../../wire/page/messages.ts";
import type { StatusResult } from "../../wire/rpc/rpc.ts";
import { count, sizeText } from "../words.ts";

/** `bad`: somebody should do something about it. */
export type Fact = {
  readonly name: string;
  readonly value: string;
  readonly more: string;
  readonly tone: "" | "warn" | "bad";
};

/** What the host sees, and what the daemon said last; `isUp`: it answers now. */
export type Seen = {
  readonly health: WebHealth | undefined;
  readonly usage: WebUsage | undefined;
  readonly status: StatusResult | undefined;
  readonly isUp: boolean;
};

export function factsOf(seen: Seen): Fact[] {
  const { health, usage, status, isUp } = seen;
  return [
    ...(health === undefined ? [] : [diskFact(health.disk)]),
    ...(usage === undefined ? [] : [homeFact(usage)]),
    ...(health === undefined ? [] : [logFact(health.log, status, isUp), holdersFact(health.holders)]),
    ...(health?.programs ?? []).map((program) => programFact(program, seen)),
    ...(status?.programs ?? []).map(({ name, pid }) => fact(name, pid === null ? "not running" : `process ${pid}`)),
  ];
}

function fact(name: string, value: string, more = "", tone: Fact["tone"] = ""): Fact {
  return { name, value, more, tone };
}

const FREE_SOME = "free some space: a full disk refuses new work";

function diskFact({ freeBytes, freeFiles, fileSystem, room }: WebHealth["disk"]): Fact {
  const value = `${sizeText(freeBytes)} free`;
  if (room === "enough") return fact("Disk", value, fileSystem ?? "");
  const files = freeFiles === null ? "" : `, ${count(freeFiles, "file")}`;
  return fact("Disk", `${value}${files}`, FREE_SOME, room === "none" ? "bad" : "warn");
}

function homeFact({ kinds, isWhole }: WebUsage): Fact {
  const bytes = kinds.reduce((sum, kind) => sum + kind.bytes, 0);
  const files = kinds.reduce((sum, kind) => sum + kind.files, 0);
  const least = isWhole ? "" : "more than ";
  return fact("Home", `${least}${sizeText(bytes)}`, `${least}${count(files, "file")}`);
}

function logFact({ bytes, files }: WebHealth["log"], status: StatusResult | undefined, isUp: boolean): Fact {
  const size = `${sizeText(bytes)} in ${count(files, "segment")}`;
  const trouble = status?.disk;
  if (!isUp) return fact("Log", "takes nothing now", `the daemon is down; ${size}`, "warn");
  if (!trouble) return fact("Log", "takes writes", size);
  return fact("Log", `refuses: ${trouble.operation} failed, ${trouble.code}`, trouble.hint, "bad");
}

const NAMES: Readonly<Record<string, string>> = { watchdog: "Watchdog", daemon: "Daemon", web: "Web host" };
const MISSING: Readonly<Record<string, string>> = {
  watchdog: "a crash would not be noticed: holdfast up",
  daemon: "the watchdog starts it again",
};

/** The daemon's own word counts more: the host looks now and then. */
function programFact({ name, pid: found, memory }: ProgramHealth, { status, isUp }: Seen): Fact {
  const pid = name === "daemon" && status !== undefined ? (isUp ? status.daemon.pid : null) : found;
  const title = NAMES[name] ?? name;
  if (pid === null) return fact(title, "not running", MISSING[name] ?? "", "bad");
  if (memory === null || pid !== found) return fact(title, "running", `process ${pid}`);
  return fact(title, sizeText(memory), `memory of process ${pid}`);
}

function holdersFact({ many, memory }: WebHealth["holders"]): Fact {
  return many === 0 ? fact("Holders", "none") : fact("Holders", sizeText(memory), `memory of ${count(many, "holder")}`);
}
