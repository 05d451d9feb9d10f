// What each check of the fleet says of what it saw, as tables.

import { expect, test } from "bun:test";
import { refused } from "../../../base/result.ts";
import { awayMs } from "../../../core/fleet/watch.ts";
import type { HostRow, WatchedRow } from "../../../fleet/calls.ts";
import { NO_SYNC } from "../../../fleet/database.ts";
import type { StandbyStatus } from "../../../home/standby-status.ts";
import type { FleetStatus, StatusResult } from "../../../wire/rpc/rpc.ts";
import type { Finding } from "../check.ts";
import { checkConnection, checkDatabase, checkDatabaseClock, checkFailOver } from "./database.ts";
import { checkFleetHome } from "./home.ts";
import { checkAnnounced, checkMirrors, checkProgram, checkShipping, type StandbySeen } from "./standby.ts";
import { checkTakeover } from "./takeover.ts";

const NOW = Date.parse("2026-01-02T03:04:05.000Z");
const ago = (ms: number) => new Date(NOW - ms).toISOString();
const said = ({ status, what }: Finding) => `${status}: ${what}`;

test("a server without fsync is told from one that does not answer, and a slow one from both", () => {
  const away = refused("fleet-away", "The database of the fleet did not answer: no route", "holdfast fleet status");
  const unsafe = refused("fleet-away", `The database of the fleet did not answer: ${NO_SYNC} (08001)`, "");
  expect(checkDatabase(away)).toMatchObject({ status: "problem", next: expect.stringContaining("[fleet] url") });
  expect(checkDatabase(unsafe)).toMatchObject({ status: "problem", next: expect.stringContaining("fsync = on") });
  const mode = { synchronous: "", commit: "on", now: 0 };
  const asked = { mode, clockMs: 0, at: "db:5432", standbys: 0, homes: [], hosts: [], batches: new Map() };
  const found = [2, 100.1].map((tookMs) => checkDatabase({ ok: true, value: { ...asked, tookMs, schema: away } }));
  expect(found.map(said)).toEqual(["ok: db:5432 answers in 2.0 ms", "warning: db:5432 answers in 100.1 ms"]);
});

test("the way to the database is as safe as the least safe of its hosts", () => {
  const tcp = (host: string, tls: "disable" | "require" | "verify-full") =>
    ({ kind: "tcp", host, port: 5432, tls }) as const;
  const full = tcp("a", "verify-full");
  expect(checkConnection([full, { kind: "unix", directory: "/run", port: 1 }]).status).toBe("ok");
  expect(checkConnection([tcp("127.0.0.1", "disable")]).status).toBe("ok");
  expect(said(checkConnection([full, tcp("b", "require")]))).toStartWith("warning: b:5432: TLS without a proof");
  expect(said(checkConnection([tcp("c", "disable"), tcp("b", "require")]))).toStartWith(
    "warning: c:5432: in plain text",
  );
});

test("clocks that are apart are a warning, unless the answer took so long that nobody knows", () => {
  const clock = (clockMs: number, tookMs = 2) => said(checkDatabaseClock({ clockMs, tookMs }));
  expect(clock(-5_000)).toBe("ok: 5000 ms from the database's");
  expect(clock(5_200)).toBe("warning: this host is 5.2 s behind the database");
  expect(clock(-60_000)).toBe("warning: this host is 60.0 s ahead of the database");
  expect(clock(6_000, 2_000)).toStartWith("ok");
});

test("an asynchronous standby is a warning; without any there is nothing to fail over to", () => {
  const failOver = (synchronous: string, standbys: number, commit = "on") =>
    checkFailOver({ mode: { synchronous, commit, now: 0 }, standbys }).status;
  expect([failOver("s1", 1), failOver("", 0), failOver("", 1), failOver("s1", 1, "local")]).toEqual([
    ...["ok", "ok", "warning", "warning"],
  ] as ReturnType<typeof failOver>[]);
});

const ROW: WatchedRow = {
  ...{ id: "a", name: "web1-work", take: "t", epoch: 3, owner: "web1", host: "h1", leaseMs: 4_000, leaseEnd: "9" },
  ...{ lastSeq: 7, snapshot: 0, takeover: "auto", moveTo: "" },
};
const FLEET: FleetStatus = {
  ...{ home: "a", host: "web1", role: "owner", owner: "web1", epoch: 3, leaseMs: 9_000, why: null },
};

function homeSaid(fleet: Partial<FleetStatus> | null, row: Partial<WatchedRow> = {}): string {
  const status = { fleet: fleet && { ...FLEET, ...fleet } } as StatusResult;
  return said(checkFleetHome({ status, row: { ...ROW, ...row }, wanted: "up" }));
}

test("a home's role, epoch and lease; and what is wrong with them", () => {
  expect(homeSaid({})).toBe("ok: web1-work is web1's (epoch 3), its lease lasts for 9.0 s");
  expect(homeSaid({ leaseMs: Number.MAX_SAFE_INTEGER })).toEndWith("without an end of its lease");
  expect(homeSaid({ why: "away" })).toStartWith("warning");
  expect(homeSaid({ leaseMs: 0, why: "away" })).toStartWith(
    "problem: web1-work is web1's (epoch 3), its lease has ended",
  );
  expect(homeSaid({}, { moveTo: "web2" })).toEndWith("it moves to web2");
  expect(homeSaid({ role: "waiting" })).toStartWith("problem: it waits for the database");
  expect(homeSaid({ role: "follower", owner: "web2" })).toStartWith("warning: this home is on web2");
  expect(homeSaid(null)).toStartWith("problem: this home is not in the fleet yet");
  const down = (wanted: "up" | "down", row?: WatchedRow) => said(checkFleetHome({ status: undefined, row, wanted }));
  expect(down("down", { ...ROW, leaseEnd: "", leaseMs: 0 })).toStartWith("ok: released");
  expect(down("up", ROW)).toStartWith("warning: no daemon answers; the database has it as web1's");
  expect(down("up")).toStartWith("ok: no daemon answers");
});

const STATUS: StandbyStatus = {
  ...{ at: ago(0), pid: 7, guard: "running", actsForHost: true, doing: null, database: null, shipping: null },
  ...{ shippedAt: ago(9_000), takeover: null, mirrors: [] },
};

function seen(status: Partial<StandbyStatus> = {}, more: Partial<StandbySeen> = {}): StandbySeen {
  const rest = { now: NOW, pid: 7, actingPid: 7, isWanted: true, isOwner: true };
  return { ...rest, status: { ...STATUS, ...status }, ...more };
}

test("the standby program: whether it runs, acts for the host, and can look at the fleet", () => {
  expect(said(checkProgram(seen()))).toBe("ok: process 7 runs, and acts for this host");
  expect(said(checkProgram(seen({}, { actingPid: 8 })))).toBe("ok: process 7 runs, and process 8 acts for this host");
  expect(said(checkProgram(seen({}, { pid: undefined })))).toBe("problem: the standby program does not run");
  expect(checkProgram(seen({}, { pid: undefined, isWanted: false })).status).toBe("ok");
  expect(checkProgram(seen({}, { actingPid: undefined })).status).toBe("warning");
  expect(checkProgram(seen({ database: "away" })).why).toBe("away");
  expect(checkProgram(seen({ database: "away", pid: 6 })).status).toBe("ok"); // That was the one before.
  expect(checkProgram(seen({ takeover: "no room" })).why).toBe("no room");
});

test("shipping and mirrors are as old as they are, and say what went wrong last", () => {
  const shipping = (status: Partial<StandbyStatus>) => checkShipping(seen(status)).map(said);
  expect(shipping({})).toEqual(["ok: shipped 9 s ago"]);
  expect(shipping({ shippedAt: ago(600_000) })[0]).toStartWith("warning: shipped 10 min");
  expect(shipping({ shipping: "no key" })[0]).toStartWith("warning: the last round failed; shipped 9 s ago");
  expect(checkShipping(seen({}, { isOwner: false }))).toEqual([]);
  const mirror = { name: "b", lag: 3, at: ago(4_000) };
  const mirrors = (more: object) => checkMirrors(seen({ mirrors: [{ ...mirror, ...more }] })).map(said);
  expect(mirrors({})).toEqual(["ok: b (4 s old, 3 entries behind)"]);
  expect(mirrors({ trouble: "hole", lag: 0 })).toEqual(["warning: copies that are behind: b (4 s old)"]);
  expect(mirrors({ at: ago(1e6) })[0]).toStartWith("warning");
  expect(checkMirrors(seen())).toEqual([]);
});

const HOST: HostRow = {
  ...{
    id: "h2",
    name: "web2",
    labels: [],
    capacity: 0,
    version: "1",
    address: "",
    takes: ["web1-*"],

    agoMs: 0,
  },
};

test("who would take it over: another host that is there and takes homes of its name", () => {
  const settings = { takeover: "auto", leaseS: 10 } as Parameters<typeof checkTakeover>[0];
  const takers = (hosts: readonly HostRow[], takeover: "auto" | "manual" = "auto") =>
    checkTakeover({ ...settings, takeover }, { row: ROW, hosts, host: "h1" }).map(said)[0] ?? "";
  expect(takers([HOST])).toBe("ok: web2 would take it over");
  const nobody = "warning: nobody would take this home over if this host died";
  const others = [{ takes: [] }, { takes: ["b"] }, { id: "h1" }, { agoMs: awayMs(10_000) + 1 }];
  for (const other of others) expect(takers([{ ...HOST, ...other }])).toBe(nobody);
  expect(takers([], "manual")).toStartWith("ok: takeover = manual");
});

test("a host that lives and was not heard of for three leases is a warning", () => {
  expect(checkAnnounced({ ...HOST, agoMs: 89_000 }, 30, 7)).toEqual([]);
  expect(checkAnnounced({ ...HOST, agoMs: 91_000 }, 30, 7)[0]?.status).toBe("warning");
  expect([checkAnnounced(undefined, 30, 7).length, checkAnnounced(undefined, 30, undefined).length]).toEqual([1, 0]);
});
