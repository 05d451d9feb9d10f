// `holdfast doctor`: checks everything Holdfast needs, and reports for each check its status, the reason and the next
// step.
// DD1. It only looks: nothing is started, and nothing is changed without --fix. It needs no daemon.
// DD2. All checks run concurrently, and every wait has a limit; a check that fails is a problem itself and hides no
//      other.
// DD3. After --fix everything is checked again: the report shows what is left.

import { isFault } from "../../base/fault.ts";
import { localTimes } from "../../base/local-time.ts";
import { ok } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { realMachine } from "../../world/real/machine.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { foldedFor } from "../fold.ts";
import { chosenHome, meantHome } from "../home.ts";
import { count } from "../print.ts";
import { recorded } from "../terminal/list-from-disk.ts";
import { closedHome } from "./access.ts";
import { checkAgentStores } from "./agent-stores.ts";
import { type Check, type Checker, type Finding, problem, type Site, warning } from "./check.ts";
import { checkDaemon } from "./daemon.ts";
import { checkDisk, checkFileSystem } from "./disk.ts";
import { checkFleet } from "./fleet.ts";
import { checkHolders } from "./holders.ts";
import { checkNotify } from "./notify.ts";
import { checkLeftovers, checkRights, listFiles } from "./rights.ts";
import { checkBallast, checkRoom } from "./room.ts";
import { checkLocks, checkRecovery } from "./running.ts";
import { checkSearch } from "./search.ts";
import { checkAgents, checkClock, checkConfiguration, checkHome, checkRuntime, checkService } from "./setup.ts";
import { checkSockets } from "./sockets.ts";
import { checkCheckpoints, checkLog, checkQuarantine, checkSmallFiles, checkTapes } from "./storage.ts";
import { checkTunnel } from "./tunnel.ts";
import { checkWorkflows } from "./workflows.ts";

export type DoctorFlags = DataFlags & { readonly deep?: boolean; readonly fix?: boolean };

/** Checks that wait come first, so that the others run meanwhile. */
const WITHOUT_HOME: readonly (readonly [string, Checker])[] = [
  ["agents", checkAgents],
  ["conversations", checkAgentStores],
  ["service", checkService],
  ["configuration", checkConfiguration],
  ["runtime", checkRuntime],
];

const WITH_HOME: readonly (readonly [string, Checker])[] = [
  ...WITHOUT_HOME,
  ["fleet", checkFleet],
  ["daemon", checkDaemon],
  ["disk", checkDisk],
  ["holders", checkHolders],
  ["sockets", checkSockets],
  ["home", checkHome],
  ["locks", checkLocks],
  ["recovery", checkRecovery],
  ["log", checkLog],
  ["checkpoints", checkCheckpoints],
  ["workflows", checkWorkflows],
  ["tapes", checkTapes],
  ["records", checkSmallFiles],
  ["quarantine", checkQuarantine],
  ["file-system", checkFileSystem],
  ["room", checkRoom],
  ["ballast", checkBallast],
  ["permissions", checkRights],
  ["leftovers", checkLeftovers],
  ["clock", checkClock],
  ["tunnel", checkTunnel],
  ["notifications", checkNotify],
  ["search", checkSearch],
];

async function doctor(world: DaemonCommandWorld, flags: DoctorFlags): Promise<Exit> {
  const named = chosenHome(world.console, flags.home);
  const isClosed = named !== undefined && closedHome(world.disk, realMachine(), named) !== undefined;
  const home = isClosed ? ok(named) : meantHome(world, flags.home);
  if (!home.ok) return home;
  const deep = flags.deep === true;
  const first = await examine(world, home.value, deep);
  const fixed = flags.fix === true ? await mendAll(first) : [];
  const findings = fixed.length > 0 ? await examine(world, home.value, deep) : first; // DD3
  const checks = findings.map(({ name, status, what, why, next }): Check => ({ name, status, what, why, next }));
  const { out, widthOf } = world.console;
  const text = flags.json
    ? visibleLine(JSON.stringify({ checks, fixed }))
    : foldedFor(
        out,
        widthOf,
        visible(localTimes(world.console, wordsOf(checks, fixed, flags.fix === true).join("\n"))),
      );
  await out.write(`${text}\n`);
  return ok(checks.some(({ status }) => status === "problem") ? EXIT.failed : EXIT.ok);
}

async function examine(world: DaemonCommandWorld, home: string, deep: boolean): Promise<Finding[]> {
  const closed = closedHome(world.disk, realMachine(), home);
  const isThere = closed === undefined && world.disk.stat(home) !== undefined;
  const progress = progressOf(world, deep);
  const site = siteOf(world, home, deep, progress.tell);
  const checkers = isThere ? WITH_HOME : WITHOUT_HOME;
  const found = await Promise.all(checkers.map(([name, check]) => guarded(name, check, site)));
  await progress.end();
  const missing = isThere ? [] : [closed ?? noHome(home)];
  return [...missing, ...found.flat()];
}

function siteOf(world: DaemonCommandWorld, home: string, deep: boolean, progress: Site["progress"]): Site {
  const machine = realMachine();
  const terminals = recorded(world, home);
  // A check that uses them reports the error; without one it is not an unhandled rejection.
  terminals.catch(() => undefined);
  return { world, machine, home, deep, terminals, files: listFiles({ world, machine, home, deep }), progress };
}

function noHome(home: string): Finding {
  return warning("home", {
    what: `there is no home at ${home}`,
    why: "Holdfast has never been started here",
    next: "holdfast up",
  });
}

/** DD2 */
async function guarded(name: string, check: Checker, site: Site): Promise<readonly Finding[]> {
  try {
    return await check(site);
  } catch (error) {
    if (!isFault(error)) throw error;
    return [problem(name, { what: "the check failed", why: error.message, next: error.hint })];
  }
}

/** Returns what was done; whatever could not be repaired shows up again in the next check. */
async function mendAll(findings: readonly Finding[]): Promise<string[]> {
  const fixed: string[] = [];
  for (const { mend } of findings) {
    try {
      fixed.push(...((await mend?.()) ?? []));
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }
  return fixed;
}

/** One line that is overwritten, for a person who waits for --deep. */
function progressOf({ console }: DaemonCommandWorld, deep: boolean) {
  const shown = deep && console.err.tty;
  const write = (text: string) => (shown ? console.err.write(`\r\u001b[K${text}`) : Promise.resolve());
  return { tell: (words: string) => write(`${visibleLine(words)} …`), end: () => write("") };
}

const MARKS: Readonly<Record<Check["status"], string>> = { ok: "ok      ", warning: "warning ", problem: "problem " };

function wordsOf(checks: readonly Check[], fixed: readonly string[], fix: boolean): string[] {
  const lines = checks.flatMap(({ name, status, what, why, next }) => [
    `${MARKS[status]} ${name}: ${what}`,
    ...(why ? [`           ${why}`] : []),
    ...(next ? [`         → ${next}`] : []),
  ]);
  const done = fix
    ? [fixed.length === 0 ? "nothing was repaired" : "repaired:", ...fixed.map((one) => `  ${one}`)]
    : [];
  return [...lines, ...done, verdict(checks)];
}

function verdict(checks: readonly Check[]): string {
  const problems = checks.filter(({ status }) => status === "problem").length;
  const warnings = checks.filter(({ status }) => status === "warning").length;
  if (problems + warnings === 0) return "all is well";
  return `${count(problems, "problem")}, ${count(warnings, "warning")}`;
}

export const doctorCommand = withDaemonWorld(doctor);
