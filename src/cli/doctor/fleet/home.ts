// This home in its fleet: whose it is, for how long, and whether the fleet's key opens what is in the database.
import { ok, type Result } from "../../../base/result.ts";
import type { WatchedRow } from "../../../fleet/calls.ts";
import type { FleetSeal } from "../../../fleet/seal.ts";
import type { Wanted } from "../../../home/wanted.ts";
import type { FleetStatus, StatusResult } from "../../../wire/rpc/rpc.ts";
import { count } from "../../print.ts";
import { type Finding, fine, problem, warning } from "../check.ts";
import type { Asked } from "./ask.ts";

const NAME = "fleet-home";

/** `status`: undefined if no daemon answers; `row`: undefined if the database has none, or does not answer. */
export type HomeSeen = {
  readonly status: StatusResult | undefined;
  readonly row: WatchedRow | undefined;
  readonly wanted: Wanted;
};

export function checkFleetHome({ status, row, wanted }: HomeSeen): Finding {
  if (status === undefined) return withoutDaemon(row, wanted);
  const { fleet } = status;
  if (fleet == null) {
    const why = "the daemon was started before [fleet] was in the configuration";
    return problem(NAME, { what: "this home is not in the fleet yet", why, next: "holdfast down; holdfast up" });
  }
  if (fleet.role === "owner") return owner(fleet, row);
  const why = fleet.why ?? "the database has not said yet whose this home is";
  if (fleet.role === "waiting")
    return problem(NAME, { what: "it waits for the database, and does nothing", why, next: "holdfast fleet status" });
  const what = `this home is on ${fleet.owner ?? "another host"} (epoch ${fleet.epoch}); here it only follows`;
  const next = `Use it there; or bring it here: holdfast fleet take ${row?.name ?? fleet.home}`;
  return warning(NAME, { what, why: "another host took it over, or it was moved", next });
}

function owner({ epoch, leaseMs, host, why }: FleetStatus, row: WatchedRow | undefined): Finding {
  const what = `${row?.name || "this home"} is ${host}'s (epoch ${epoch}), ${leaseText(leaseMs)}`;
  if (leaseMs > 0 && why === null) {
    if (row === undefined || row.moveTo === "" || row.moveTo === host) return fine(NAME, what);
    return warning(NAME, {
      what: `${what}; it moves to ${row.moveTo}`,
      why: "as was asked",
      next: "holdfast fleet events",
    });
  }
  const next = "holdfast fleet status; it goes on when the database answers";
  if (leaseMs > 0) return warning(NAME, { what, why: why ?? "", next });
  return problem(NAME, { what: `${what}: nothing is started, and new work is refused`, why: why ?? "", next });
}

/** With `takeover = "manual"` a lease lasts until somebody takes the home. */
const ENDLESS_MS = 1e12;

function leaseText(ms: number): string {
  if (ms <= 0) return "its lease has ended";
  return ms > ENDLESS_MS ? "without an end of its lease" : `its lease lasts for ${(ms / 1_000).toFixed(1)} s`;
}

function withoutDaemon(row: WatchedRow | undefined, wanted: Wanted): Finding {
  if (row === undefined) return fine(NAME, "no daemon answers, and the database says nothing of this home");
  if (row.leaseEnd === "" && wanted === "down") return fine(NAME, "released: nobody takes it over while it is down");
  const what = `no daemon answers; the database has it as ${row.owner || "nobody"}'s (epoch ${row.epoch}), ${leaseText(row.leaseMs)}`;
  const why = "its lease is not renewed, so another host may take it over";
  return warning(NAME, { what, why, next: wanted === "down" ? "holdfast up" : "holdfast logs" });
}

/** `seal`: read from the file, whose mode was looked at as well. */
export function checkKey(path: string, seal: Result<FleetSeal>, batches: Asked["batches"] | undefined): Finding {
  const name = "fleet-key";
  if (!seal.ok) {
    const { message, hint } = seal.error;
    return problem(name, {
      what: message.replace(/\.$/, ""),
      why: "without it nothing in the database opens",
      next: hint,
    });
  }
  const failed = [...(batches ?? [])].map(([home, row]) => openingOf(seal.value, home, row)).find(({ ok }) => !ok);
  if (failed !== undefined && !failed.ok) {
    const { message, hint } = failed.error;
    return problem(name, { what: `${path} does not open what is in the database`, why: message, next: hint });
  }
  if (batches === undefined) return fine(name, `${path}; the database could not be asked whether it fits`);
  if (batches.size === 0) return fine(name, `${path}; the database has nothing yet that it could open`);
  return fine(name, `${path} opens the logs of ${count(batches.size, "home")}`);
}

function openingOf(seal: FleetSeal, home: string, row: Parameters<FleetSeal["openBatches"]>[1]): Result<undefined> {
  const opened = seal.openBatches(home, row);
  return opened.ok ? ok(undefined) : opened;
}
