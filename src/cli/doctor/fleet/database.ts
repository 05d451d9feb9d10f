// The database of the fleet: whether it answers, how it is reached, and how it keeps what it confirms.
import { hostText, isLoopback, type PostgresHost } from "../../../base/postgres-host.ts";
import type { Result } from "../../../base/result.ts";
import { NO_SYNC } from "../../../fleet/database.ts";
import { failOverText } from "../../fleet/server-mode.ts";
import { type Finding, fine, problem, some, warning } from "../check.ts";
import type { Asked } from "./ask.ts";

/** Every acknowledgement waits for the database. */
const SLOW_MS = 100;
/** Leases do not depend on clocks; the times of logs, of schedules and of certificates do. */
const CLOCK_MS = 5_000;

export function checkDatabase(asked: Result<Asked>): Finding {
  const name = "fleet-database";
  if (asked.ok) {
    const { at, tookMs } = asked.value;
    const what = `${at} answers in ${tookMs.toFixed(1)} ms`;
    if (tookMs <= SLOW_MS) return fine(name, what);
    const why = "nothing is acknowledged before the database has it: every step and every message waits so long";
    return warning(name, { what, why, next: "Use a database that is nearer, or find out what keeps it busy" });
  }
  const { message, hint } = asked.error;
  if (message.includes(NO_SYNC)) {
    const next = "Set fsync = on in its postgresql.conf, and restart it";
    return problem(name, { what: "it runs with fsync = off, so it is not used", why: NO_SYNC, next });
  }
  const next = hint === "holdfast fleet status" ? "Check [fleet] url, the network and the server's own log" : hint;
  return problem(name, { what: "it cannot be used; the other checks of it were left out", why: message, next });
}

/** The least safe way in counts: any of the hosts may be the one that answers. */
export function checkConnection(hosts: readonly PostgresHost[]): Finding {
  const name = "fleet-connection";
  const open = hosts.filter((host) => host.kind === "tcp" && host.tls === "disable" && !isLoopback(host.host));
  const unproved = hosts.filter((host) => host.kind === "tcp" && host.tls === "require");
  const next = "Use sslmode=verify-full in [fleet] url, with sslrootcert if the authority is your own";
  if (open.length > 0) {
    const why = "whoever is between can read names and times, and pose as the database";
    return warning(name, { what: `${namesOf(open)}: in plain text (sslmode=disable)`, why, next });
  }
  if (unproved.length > 0) {
    const why = "encrypted, but anybody may pose as the database";
    return warning(name, {
      what: `${namesOf(unproved)}: TLS without a proof of who it is (sslmode=require)`,
      why,
      next,
    });
  }
  return fine(name, [...new Set(hosts.map(wayText))].join("; "));
}

function wayText(host: PostgresHost): string {
  if (host.kind === "unix") return "a socket of this machine";
  return host.tls === "disable" ? "this machine, without TLS" : `TLS, ${host.tls}`;
}

function namesOf(hosts: readonly PostgresHost[]): string {
  return some(hosts.map(hostText));
}

export function checkDatabaseClock({ clockMs, tookMs }: Pick<Asked, "clockMs" | "tookMs">): Finding {
  const name = "fleet-clock";
  const apart = Math.abs(clockMs);
  if (apart - tookMs / 2 <= CLOCK_MS) return fine(name, `${apart} ms from the database's`);
  const what = `this host is ${(apart / 1_000).toFixed(1)} s ${clockMs > 0 ? "behind" : "ahead of"} the database`;
  const why = "leases do not depend on it, but times jump when a home changes its host, and schedules with them";
  return warning(name, {
    what,
    why,
    next: "timedatectl; set the clock, or turn on its synchronisation, here and there",
  });
}

export function checkFailOver({ mode, standbys }: Pick<Asked, "mode" | "standbys">): Finding {
  const name = "fleet-fail-over";
  const what = failOverText(mode);
  const isSafe = mode.synchronous !== "" && mode.commit !== "local" && mode.commit !== "off";
  if (isSafe) return fine(name, what);
  if (standbys === 0) return fine(name, `${what} None is connected now: if its disk is lost, so is what only it has.`);
  const why = "what was confirmed and not yet copied is only on the disk of the host that wrote it";
  const next = "Name a standby in synchronous_standby_names of the database, or accept it";
  return warning(name, { what, why, next });
}

export function checkSchema(schema: Asked["schema"]): Finding {
  const name = "fleet-schema";
  if (schema.ok) return fine(name, `version ${schema.value}; the role may read and write all tables`);
  const { message, hint } = schema.error;
  return problem(name, { what: message.replace(/\.$/, ""), why: "without them this home does not start", next: hint });
}
