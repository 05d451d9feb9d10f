// `holdfast status`: what is running on this home. It only looks, but starts Holdfast if it should be up.
// ST1. A disk that refuses writes is reported, by the daemon or, if the file system is read-only, without it; then the
//      command fails, like everything else that needs the disk.
// ST2. It fails as well if something else is wrong that Holdfast cannot repair at once (troubles.ts), and names it with
//      the next command.

import { isFault } from "../../base/fault.ts";
import { localTime, localTimes } from "../../base/local-time.ts";
import { ok } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import type { NotedAttempt } from "../../home/attempts.ts";
import { pendingOf } from "../../home/config-file.ts";
import { dialAsking, HELLO_MS } from "../../home/dial.ts";
import { diskTrouble } from "../../home/disk-faults.ts";
import { runningOn } from "../../home/running.ts";
import { readSafeMode } from "../../home/safe-mode.ts";
import { configHere } from "../../home/start-watchdog.ts";
import { watchedPrograms } from "../../home/watched.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import { allRows } from "../../wire/rpc/page.ts";
import type { DiskTrouble, StatusResult, Trouble } from "../../wire/rpc/rpc.ts";
import { VERSION } from "../../wire/version.ts";
import type { Console } from "../../world/console.ts";
import { realMachine } from "../../world/real/machine.ts";
import { within } from "../../world/wait.ts";
import { recentAttempts } from "../attempts.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import { readOnlyDisk } from "../disk.ts";
import type { DataFlags } from "../flags.ts";
import { foldedFor } from "../fold.ts";
import { meantHome } from "../home.ts";
import { count } from "../print.ts";
import { ensureStarted, hangs, progressText } from "../start.ts";
import { tapeTroubles, troublesOf } from "../troubles.ts";

/** A healthy daemon answers at once. */
const ANSWER_MS = 3_000;
const TROUBLED = { troubled: true };

/** The same fields while no daemon answers, with nulls. */
type Shown = Omit<StatusResult, "daemon" | "recovery" | "counts"> & {
  readonly daemon: { readonly pid: number | null; readonly startedAt: string | null };
  readonly recovery: { readonly [K in keyof StatusResult["recovery"]]: StatusResult["recovery"][K] | null };
  readonly counts: { readonly [K in keyof StatusResult["counts"]]: number | null };
  /** What agents tried in the last day and may not do. */
  readonly attempts?: readonly NotedAttempt[];
  /** What waits for a person. */
  readonly attention?: readonly Trouble[];
  /** Changes of the configuration that the daemon does not use yet. */
  readonly pending?: readonly Trouble[];
};

async function status(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const line = await dialAsking(world, home.value, HELLO_MS, (client) => asked(world, client));
  if (!line.ok) return line;
  line.value?.client.close();
  const running = runningOn(world, home.value);
  const failed = line.value === undefined ? await startFailure(world, home.value) : undefined;
  const { told, listed, waiting } = line.value?.answer ?? {};
  const shown = told?.ok === true ? completed(told.value, running) : silent(world, home.value);
  const disk = troubleOf(shown.disk ?? failed, readOnlyDisk(realMachine(), home.value)); // ST1
  const place = { disk: world.disk, home: home.value };
  const unrecorded = listed?.ok === true ? tapeTroubles(listed.value) : [];
  const troubles = [...troublesOf(place, shown, running.watchdog !== undefined), ...unrecorded]; // ST2
  const attempts = recentAttempts(world, home.value);
  const attention = waiting?.ok === true ? waiting.value : []; // An older daemon does not say.
  const waits = pendingOf(configHere(world), shown.config);
  const pending = waits === undefined ? [] : [waits];
  await printStatus(world, { ...shown, disk, troubles, attempts, attention, pending }, flags.json === true);
  return ok(disk === null && troubles.length === 0 ? EXIT.ok : EXIT.failed);
}

async function asked({ clock }: DaemonCommandWorld, client: RpcClient) {
  const [told, listed, waiting] = await Promise.all([
    within(clock, ANSWER_MS, client.call("status", {})),
    within(clock, ANSWER_MS, allRows(client, "terminal.list", TROUBLED)),
    within(clock, ANSWER_MS, allRows(client, "attention", {})),
  ]);
  return { told, listed, waiting };
}

/** What is known about the mount is the better hint. */
function troubleOf(failed: DiskTrouble | null | undefined, mount: DiskTrouble | undefined): DiskTrouble | null {
  if (!failed || mount === undefined) return failed ?? mount ?? null;
  return { ...failed, hint: mount.hint };
}

/** The Fault that kept Holdfast from being started, if there was one (ST1). */
async function startFailure(world: DaemonCommandWorld, home: string): Promise<DiskTrouble | undefined> {
  try {
    await ensureStarted(world, home);
    return undefined;
  } catch (error) {
    if (!isFault(error)) throw error;
    return diskTrouble(error);
  }
}

/** A daemon that cannot open files does not see who else runs. */
function completed(told: StatusResult, { watchdog, web }: ReturnType<typeof runningOn>): Shown {
  return {
    ...told,
    watchdog: { pid: told.watchdog.pid ?? watchdog?.pid ?? null },
    web: { ...told.web, pid: told.web.pid ?? web?.pid ?? null },
  };
}

function silent(world: DaemonCommandWorld, home: string): Shown {
  const { watchdog, daemon } = runningOn(world, home);
  const mode = readSafeMode(world.disk, home);
  return {
    version: VERSION,
    home,
    watchdog: { pid: watchdog?.pid ?? null },
    daemon: { pid: daemon?.pid ?? null, startedAt: null },
    web: { pid: null, url: null },
    programs: watchedPrograms({ ...world, home }),
    recovery: { stage: null, attempt: null, report: null },
    safeMode: { active: mode.active, reason: mode.active ? mode.reason : null },
    disk: null,
    counts: { terminals: null, agents: null, workflows: null, prompts: null },
  };
}

export async function printStatus({ console }: DaemonCommandWorld, shown: Shown, json: boolean): Promise<void> {
  const { out, widthOf } = console;
  const text = () => foldedFor(out, widthOf, visible(localTimes(console, statusText(console, shown))));
  await out.write(json ? `${visibleLine(JSON.stringify(shown))}\n` : text());
}

function statusText(console: Console, shown: Shown): string {
  const { version, home, watchdog, daemon, web, recovery, safeMode, counts, fleet } = shown;
  const { programs = [], disk = null, troubles = [], attempts = [], attention = [], pending = [] } = shown;
  const pid = (who: { readonly pid: number | null }) => (who.pid === null ? "not running" : `pid ${who.pid}`);
  const since = daemon.startedAt === null ? "" : `, since ${localTime(console, daemon.startedAt)}`;
  const stage = fleetStage(shown) ?? recovery.stage ?? (daemon.pid === null ? "down" : "the daemon does not answer");
  const soFar = recovery.stage === "LIVE" ? undefined : progressText(recovery);
  const from = recovery.takenFrom == null ? "" : `, taken over from ${recovery.takenFrom}`;
  const calm = troubles.length === 0 ? nextOf(daemon.pid, watchdog.pid, recovery.stage) : "";
  const next = disk === null ? calm : `  → ${disk.hint}\n`;
  return [
    `holdfast ${version}${otherVersion(version)}, home ${home}\n`,
    `state      ${stage}${soFar === undefined ? "" : `, ${soFar}`}${from}${safeMode.active ? ", in safe mode" : ""}\n`,
    `watchdog   ${pid(watchdog)}\n`,
    `daemon     ${pid(daemon)}${since}\n`,
    `page       ${web.url === null ? pid(web) : `${web.url} (holdfast open signs a browser in)`}\n`,
    ...programs.map(({ name, ...who }) => `program    ${name}, ${pid(who)}\n`),
    fleet ? `fleet      ${fleet.role} on ${fleet.host}${fleet.why === null ? "" : `; ${fleet.why}`}\n` : "",
    ...countLines(counts),
    attempts.length === 0 ? "" : `refused    ${count(attempts.length, "attempt")} of agents: holdfast prompts\n`,
    ...linesOf("pending", pending),
    ...linesOf("needs you", attention),
    ...linesOf("trouble", troubles),
    ...(disk === null ? [] : [`disk       ${diskText(console, disk)}\n`]),
    next,
  ].join("");
}

/** Instead of the stage of a recovery that does not begin here; undefined if it does. */
function fleetStage({ fleet }: Shown): string | undefined {
  if (fleet?.role === "follower") return `on ${fleet.owner ?? "another host"} (holdfast fleet ls)`;
  return fleet?.role === "waiting" ? "waiting for the database of the fleet" : undefined;
}

/** A person reads no more of the same. */
const MAX_LINES = 10;

function linesOf(name: string, found: readonly Trouble[]): string[] {
  const lines = found.slice(0, MAX_LINES).map(({ what, next }) => `${name.padEnd(11)}${what}\n  → ${next}\n`);
  const more = found.length - lines.length;
  return more > 0 ? [...lines, `${name.padEnd(11)}and ${more} more (--json lists all)\n`] : lines;
}

function diskText(console: Console, { operation, path, code, since }: DiskTrouble): string {
  return `${operation} ${path}: ${code}${since === null ? "" : `, since ${localTime(console, since)}`}`;
}

/** Terminals always; the other counts only if they are not zero. */
function countLines({ terminals, agents, workflows, prompts }: Shown["counts"]): string[] {
  if (terminals === null) return [];
  return [
    `terminals  ${terminals === 0 ? "none" : terminals}\n`,
    agents ? `agents     ${agents}\n` : "",
    workflows ? `runs       ${workflows}\n` : "",
    prompts ? `prompts    ${prompts} waiting for you: holdfast prompts\n` : "",
  ];
}

function nextOf(daemon: number | null, watchdog: number | null, stage: string | null): string {
  if (daemon === null) return watchdog === null ? "  → holdfast up\n" : "";
  return stage === null ? `  → ${hangs(daemon).hint}\n` : "";
}

/** They understand each other, but one may lack features of the other. */
function otherVersion(daemons: string): string {
  if (daemons === VERSION) return "";
  return ` (this command is ${VERSION}: holdfast down && holdfast up)`;
}

export const statusCommand = withDaemonWorld(status);
