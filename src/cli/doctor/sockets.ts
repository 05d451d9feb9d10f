// Sockets: whether running processes can be reached, and what dead ones left behind.
// DK1. A socket is stale when there is no reply on it and its owner is gone; it is tried once more before it is
//      removed.
// DK2. Sockets created a moment ago are ignored: the owner may be about to answer, or to be recorded.

import { isFault } from "../../base/fault.ts";
import { baseName, joinPath } from "../../base/path.ts";
import { RUN } from "../../home/layout.ts";
import { runningOn } from "../../home/running.ts";
import { removeIfThere } from "../../log/file/file.ts";
import { within } from "../../world/wait.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { count } from "../print.ts";
import { type Finding, fine, problem, type Site, some, warning } from "./check.ts";

/** The system's limit (world/socket.ts, K1), and the length of our longest socket name. */
const MAX_PATH = 107;
const MAX_NAME = "run/0123456789abcdef.sock";
/** A healthy process answers within a millisecond. */
const ANSWER_MS = 500;
/** DK2 */
const FRESH_MS = 5_000;

type Knocked = { readonly path: string; readonly answer: "yes" | "no" | "late" };

export async function knock({ sockets, clock }: DaemonCommandWorld, path: string): Promise<Knocked["answer"]> {
  try {
    const silent = { bytes: () => undefined, closed: () => undefined };
    const line = await within(clock, ANSWER_MS, sockets.connect(path, silent));
    line?.destroy();
    return line === undefined ? "late" : "yes";
  } catch (error) {
    if (isFault(error)) return "no";
    throw error;
  }
}

export async function checkSockets(site: Site): Promise<Finding[]> {
  const { world, home } = site;
  const length = Buffer.byteLength(joinPath(home, MAX_NAME));
  if (length > MAX_PATH) return [tooLong(length)];
  const before = world.clock.now() - FRESH_MS;
  const ours = site.files.filter(({ kind, path }) => kind === "socket" && path.startsWith(joinPath(home, "run/")));
  const knocked = await Promise.all(ours.map(async ({ path }) => ({ path, answer: await knock(world, path) })));
  const old = new Set(ours.filter(({ changedAt }) => changedAt < before).map(({ path }) => path));
  const found = [...main(site, knocked), ...(await others(site, knocked, old))];
  return found.length > 0 ? found : [fine("sockets", `${count(knocked.length, "socket")}, each one answers`)];
}

function tooLong(length: number): Finding {
  return problem("sockets", {
    what: `the path of a socket would have ${length} bytes`,
    why: `the system allows ${MAX_PATH}`,
    next: "Choose a shorter HOLDFAST_HOME",
  });
}

/** The sockets of the watchdog and the daemon, if they are running. */
function main({ world, home }: Site, knocked: readonly Knocked[]): Finding[] {
  const running = runningOn(world, home);
  return (["watchdog", "daemon"] as const).flatMap((name) => {
    const owner = running[name];
    const answer = knocked.find(({ path }) => path === joinPath(home, `${RUN}/${name}.sock`))?.answer;
    if (owner === undefined || answer === "yes") return [];
    const what = answer === undefined ? `the ${name}'s socket is gone` : `the ${name} does not answer`;
    const how = answer === undefined ? "run/ lost its socket" : "hangs or is starting";
    const why = `process ${owner.pid} is running, but ${how}`;
    return [
      problem("sockets", { what, why, next: "This repairs itself within seconds; otherwise see: holdfast logs" }),
    ];
  });
}

async function others(site: Site, knocked: readonly Knocked[], old: ReadonlySet<string>): Promise<Finding[]> {
  const terminals = await site.terminals;
  const running = runningOn(site.world, site.home);
  const living = new Set(terminals.filter(({ state }) => state.kind !== "ended").map(({ id }) => socketName(id)));
  const known = new Set(terminals.map(({ id }) => socketName(id)));
  if (running.watchdog) living.add("watchdog.sock");
  if (running.daemon) living.add("daemon.sock");
  const settled = knocked.filter(({ path }) => old.has(path)); // DK2
  const stale = settled.filter(({ path, answer }) => answer === "no" && !living.has(baseName(path)));
  const strays = settled.filter(
    ({ path, answer }) => answer === "yes" && isHolders(path) && !known.has(baseName(path)),
  );
  return [...nobodys(site, stale), ...withoutTerminal(strays)];
}

function socketName(id: string): string {
  return `${id.slice(0, 16)}.sock`;
}

function isHolders(path: string): boolean {
  return /^[0-9a-f-]{16}\.sock$/.test(baseName(path));
}

function nobodys({ world }: Site, stale: readonly Knocked[]): Finding[] {
  if (stale.length === 0) return [];
  const names = stale.map(({ path }) => baseName(path));
  const trouble = {
    what: `${count(stale.length, "stale socket")}: ${some(names)}`,
    why: "their owners were killed; they do no harm",
    next: "holdfast doctor --fix",
  };
  return [
    warning("sockets", trouble, async () => (await Promise.all(stale.map(({ path }) => sweep(world, path)))).flat()),
  ];
}

/** DK1 */
async function sweep(world: DaemonCommandWorld, path: string): Promise<string[]> {
  if ((await knock(world, path)) !== "no") return [];
  return removeIfThere(world.disk, path) ? [`removed ${path}, which did not answer`] : [];
}

function withoutTerminal(strays: readonly Knocked[]): Finding[] {
  if (strays.length === 0) return [];
  return [
    warning("sockets", {
      what: `${count(strays.length, "holder")} without a terminal: ${some(strays.map(({ path }) => path))}`,
      why: "no log of this home knows them",
      next: "holdfast recovery report; `fuser` on the socket names the process",
    }),
  ];
}
