// Storage: the write-ahead log and the sessions' logs, checkpoints, tapes, small files, quarantine.
// DS1. Small logs are always read in full; large ones only with --deep, and the result says which.
// DS2. Damage counts only if every look found it (log/verify.ts, Y1): a daemon may be writing.

import { joinPath } from "../../base/path.ts";
import { RECOVERY_STATE, SAFE_MODE, WANTED } from "../../home/layout.ts";
import { checkCheckpoint } from "../../log/checkpoint/check.ts";
import { readJson } from "../../log/file/json-file.ts";
import { isReadable } from "../../log/file/readable.ts";
import type { Finding as Damage, Inspection } from "../../log/inspect.ts";
import { logBytes } from "../../log/session/log-segments.ts";
import { eventsPathNow, sessionPath } from "../../log/session/places.ts";
import { isDamage, settled } from "../log/verify.ts";
import { steadyView } from "../log/view.ts";
import { readPart } from "../log-file.ts";
import { count } from "../print.ts";
import { type Finding, fine, problem, type Site, some, warning } from "./check.ts";

/** DS1: read and checked in a few tens of milliseconds. */
const SMALL_BYTES = 2 << 20;
const END_BYTES = 1 << 12;
/** After each batch other checks get their turn, and the progress is shown. */
const SESSIONS_AT_ONCE = 16;

export async function checkLog(site: Site): Promise<Finding[]> {
  const { world, home } = site;
  const view = await steadyView(world, home);
  const sizes = view.sessions.map((session) => logBytes(world.disk, sessionPath(world.disk, home, session)));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const whole = site.deep || bytes <= SMALL_BYTES; // DS1
  const found: Damage[] = [...view.inspect([]).findings];
  for (let at = 0; whole && at < view.sessions.length; at += SESSIONS_AT_ONCE) {
    await site.progress(`checking the log: ${at} of ${count(view.sessions.length, "session")}`);
    found.push(...view.inspect(view.sessions.slice(at, at + SESSIONS_AT_ONCE)).findings);
  }
  const damage = found.some(isDamage) ? await stillDamaged(site, view, whole) : [];
  if (damage.length > 0) return [damaged(damage)];
  const sessions = count(view.sessions.length, "session");
  if (whole) return [fine("log", `the write-ahead log and every line of ${sessions}: whole`)];
  for (const session of view.sessions) readEnd(site, session);
  const mib = Math.ceil(bytes / (1 << 20));
  return [fine("log", `the write-ahead log is whole, and ${sessions} can be read; --deep checks their ${mib} MiB`)];
}

/** A read error is thrown as a Fault. */
function readEnd({ world, home }: Site, session: string): void {
  const path = eventsPathNow(world.disk, home, session);
  const size = world.disk.stat(path)?.size ?? 0;
  readPart(world.disk, path, Math.max(0, size - END_BYTES), END_BYTES);
}

/** DS2 */
async function stillDamaged(site: Site, view: Awaited<ReturnType<typeof steadyView>>, whole: boolean) {
  const opened = { home: site.home, view, sessions: whole ? view.sessions : [] };
  const inspection: Inspection = await settled(site.world, opened, true);
  return inspection.findings.filter(isDamage);
}

function damaged(damage: readonly Damage[]): Finding {
  const places = [...new Set(damage.map(({ where }) => where))];
  return problem("log", {
    what: `${count(damage.length, "damaged place")} in ${some(places)}`,
    why: damage[0]?.what ?? "",
    next: "Take a copy of the home, then: holdfast log verify",
  });
}

const CHECKPOINT = "recovery/checkpoint.json";
const BACKUP = "recovery/checkpoint.backup.json";
const IS_CHECKPOINT = /\/(?:checkpoint\.json|history\/checkpoint-[^/]*\.json)$/;

export async function checkCheckpoints(site: Site): Promise<Finding[]> {
  const { world, home } = site;
  const [primary, backup] = [CHECKPOINT, BACKUP].map((name) => checkCheckpoint(world.disk, joinPath(home, name)));
  if (primary?.kind === "bad") return [badPrimary(primary.reason, backup?.kind === "whole")];
  const others = site.deep ? await badOthers(site) : [];
  if (others.length > 0) return [badCheckpoints(others)];
  if (backup?.kind === "bad") return [badBackup(backup.reason)];
  const deep = site.deep ? "; so is every other checkpoint" : "";
  return [fine("checkpoints", primary?.kind === "whole" ? `the newest (${primary.time}) is whole${deep}` : "none yet")];
}

async function badOthers({ world, home, files, progress }: Site): Promise<string[]> {
  const paths = files.map(({ path }) => path).filter((path) => IS_CHECKPOINT.test(path));
  const bad: string[] = [];
  for (const [at, path] of paths.entries()) {
    await progress(`checking checkpoints: ${at} of ${paths.length}`);
    if (checkCheckpoint(world.disk, path).kind === "bad") bad.push(path.slice(home.length + 1));
  }
  return bad;
}

function badPrimary(reason: string, backed: boolean): Finding {
  const what = `${CHECKPOINT} cannot be used`;
  if (!backed) return problem("checkpoints", { what: `${what}, and no backup can`, why: reason, next: LOST });
  return warning("checkpoints", { what: `${what}; the backup can`, why: reason, next: REWRITTEN });
}

const LOST = "holdfast up; the log has every terminal, but not its screen; see `holdfast recovery report`";
const REWRITTEN = "holdfast up; the next checkpoint moves this one to quarantine";

function badBackup(reason: string): Finding {
  return warning("checkpoints", { what: `${BACKUP} cannot be used; the newest can`, why: reason, next: REWRITTEN });
}

function badCheckpoints(paths: readonly string[]): Finding {
  const what = `${count(paths.length, "checkpoint")} cannot be used: ${some(paths)}`;
  return warning("checkpoints", {
    what,
    why: "the bytes differ from those that were written",
    next: "holdfast log verify",
  });
}

const IS_TAPE = /\/(?:terminals\/[^/]+|attempts\/\d+)\/tape\/[^/]+$/;

/** Tapes have no checksums: a file is good if it can be read, and a bad sector shows up as an error. */
export async function checkTapes(site: Site): Promise<Finding[]> {
  const { world, files, home, progress } = site;
  const tapes = files.filter(({ path, kind }) => kind === "file" && IS_TAPE.test(path));
  if (!site.deep) return [fine("tapes", `${count(tapes.length, "file")}; --deep checks them`)];
  const bad: string[] = [];
  for (const [at, { path }] of tapes.entries()) {
    await progress(`reading tapes: ${at} of ${tapes.length}`);
    if (!isReadable(world.disk, path)) bad.push(path.slice(home.length + 1));
  }
  if (bad.length === 0) return [fine("tapes", `${count(tapes.length, "file")}, all readable`)];
  const what = `${count(bad.length, "file")} cannot be read: ${some(bad)}`;
  return [problem("tapes", { what, why: "the disk fails to read them", next: "Check the disk: dmesg, smartctl" })];
}

const SMALL_FILES = [WANTED, SAFE_MODE, RECOVERY_STATE];

export async function checkSmallFiles({ world, home }: Site): Promise<Finding[]> {
  const there = SMALL_FILES.filter((name) => world.disk.stat(joinPath(home, name)) !== undefined);
  const bad = there.filter((name) => readJson(world.disk, joinPath(home, name)) === undefined);
  if (bad.length === 0) return [fine("records", `${count(there.length, "small file")} in the home can be read`)];
  const next = "Move it away and start Holdfast, which writes a new one: holdfast up";
  return [warning("records", { what: `${some(bad)} cannot be read`, why: "it does not contain JSON", next })];
}

export async function checkQuarantine({ world, home }: Site): Promise<Finding[]> {
  const names = world.disk.list(joinPath(home, "quarantine")).filter((name) => !name.endsWith(".note.json"));
  if (names.length === 0) return [fine("quarantine", "empty")];
  const what = `${count(names.length, "item")} in quarantine: ${some(names.sort())}`;
  const why = "damaged or incomplete data was set aside; Holdfast needs none of it";
  return [warning("quarantine", { what, why, next: `Read the notes: ${home}/quarantine/*.note.json` })];
}
