// `holdfast down`: stops Holdfast on this home. The programs of its terminals and agents keep running in their holders;
// --kill ends them.
// DN1. `down` is durable before any process is asked to stop: nothing heals what was asked to stop.
// DN2. Returns when the watchdog and the daemon have ended.
// DN3. If a service is installed for this home, its manager is asked too; if that fails, the unit is skipped at its
//      next start.
// DN4. If the programs of steps are left from an earlier `down`, --kill starts a daemon to interrupt their runs: ended
//      without one, they would count as failed.

import { someAtOnce } from "../../base/all-of.ts";
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { dial } from "../../home/dial.ts";
import { WATCHDOG_SOCKET } from "../../home/layout.ts";
import { runningOn } from "../../home/running.ts";
import { readServiceMark } from "../../home/service-mark.ts";
import { writeWanted } from "../../home/wanted.ts";
import { encodeHeartbeat } from "../../wire/heartbeat.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import { allRows } from "../../wire/rpc/page.ts";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";
import { Pauses } from "../../world/wait.ts";
import { endAgentProcesses } from "../agent/end.ts";
import { liveDaemon, REQUESTS_AT_ONCE } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { count, printJson, say } from "../print.ts";
import { askService } from "../service/ask.ts";
import { UNIT_NAME } from "../service/unit.ts";
import { endTerminals } from "../terminal/end.ts";
import { listTerminals } from "../terminal/find.ts";
import { hasLiveSteps } from "../workflow/live-steps.ts";

export type DownFlags = DataFlags & { readonly kill?: boolean };

/** The watchdog gives each of its processes ten seconds. */
const DOWN_LIMITS = { firstMs: 5, mostMs: 100, allMs: 40_000 };
/** A daemon without a watchdog starts one, which stops it; if that takes longer, we ask the daemon ourselves. */
const ALONE_MS = 3_000;

async function down(world: DaemonCommandWorld, flags: DownFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const refusal = whyNotAllowed(world, home.value, "down");
  if (refusal !== undefined) return { ok: false, error: refusal };
  const left = flags.kill ? await endAll(world, home.value) : ok(undefined);
  await writeWanted(world.disk, home.value, "down"); // DN1
  const byService = await stopService(world, home.value);
  const over = await stopped(world, home.value);
  if (!over.ok) return over;
  if (!left.ok) return left;
  const agents = flags.kill ? await endAgentProcesses(world, home.value) : ok(undefined);
  if (!agents.ok) return agents;
  if (flags.json) {
    await printJson(world.console, { home: home.value, state: "down", killed: flags.kill === true });
    return ok(EXIT.ok);
  }
  if (byService) await say(world.console, `stopped through systemd (${UNIT_NAME}); it stays down until: holdfast up`);
  if (world.console.err.tty) await say(world.console, flags.kill ? "down; nothing is running any more." : DOWN);
  return ok(EXIT.ok);
}

const DOWN = "down; the programs in terminals keep running. `holdfast up` manages them again.";

/** Returns whether a service manager was asked (DN3). */
async function stopService(world: DaemonCommandWorld, home: string): Promise<boolean> {
  if (readServiceMark(world.disk, home) === undefined) return false;
  return askService(world, "stop");
}

/** Whatever could not be ended is named, and left. */
async function endAll(world: DaemonCommandWorld, home: string): Promise<Result<void>> {
  const listing = await listTerminals(world, home, "wait", { state: ["running", "starting"] });
  if (!listing.ok) return listing;
  const interrupted = await interruptRuns(world, home);
  const running = listing.value.terminals;
  const ends = await endTerminals(world, home, running);
  const failed = ends.flatMap((end, at) => (end.ok ? [] : nameOf(running[at])));
  if (failed.length === 0) return interrupted;
  const message = `${count(failed.length, "terminal")} could not be ended: ${failed.join(", ")}.`;
  return refused("still-running", message, "See why with `holdfast logs`; their holders are still there.");
}

/** DN4 */
async function interruptRuns(world: DaemonCommandWorld, home: string): Promise<Result<void>> {
  const line = await dial(world, home);
  if (line.ok && line.value !== undefined) return interruptAll(world, line.value);
  if (!(await hasLiveSteps(world, home))) return ok(undefined);
  const started = await liveDaemon(world, home);
  return started.ok ? interruptAll(world, started.value) : started;
}

/** Resolves when nothing runs. The runs can be resumed. */
export async function interruptAll(world: DaemonCommandWorld, client: RpcClient): Promise<Result<void>> {
  const pauses = new Pauses(world.clock, DOWN_LIMITS);
  do {
    const runs = await allRows(client, "workflow.list", { state: ["running", "queued"] });
    if (!runs.ok || runs.value.length === 0) {
      client.close();
      return runs.ok ? ok(undefined) : runs;
    }
    await someAtOnce(REQUESTS_AT_ONCE, runs.value, ({ id }) => client.call("workflow.interrupt", { id }));
  } while (await pauses.next());
  client.close();
  return refused("still-running", "Some workflows could not be interrupted.", "`holdfast workflows` shows which.");
}

function nameOf(terminal: BriefTerminal | undefined): string[] {
  return terminal === undefined ? [] : [terminal.name];
}

/** The watchdog would notice by itself, only later. */
async function tellWatchdog({ sockets }: DaemonCommandWorld, home: string): Promise<void> {
  try {
    const silent = { bytes: () => undefined, closed: () => undefined };
    const line = await sockets.connect(joinPath(home, WATCHDOG_SOCKET), silent);
    line.send(encodeHeartbeat({ type: "look" }));
    line.end();
  } catch (error) {
    if (!isFault(error, "ENOENT", "ECONNREFUSED", "ECONNRESET")) throw error;
  }
}

/** While `down` is wanted: resolves when nothing is running any more (DN2). */
export async function stopped(world: DaemonCommandWorld, home: string): Promise<Result<void>> {
  await tellWatchdog(world, home);
  const pauses = new Pauses(world.clock, DOWN_LIMITS);
  const began = world.clock.elapsed();
  let told = false;
  for (;;) {
    const { watchdog, daemon } = runningOn(world, home);
    if (watchdog === undefined && daemon === undefined) return ok(undefined);
    const alone = watchdog === undefined && world.clock.elapsed() - began > ALONE_MS;
    if (daemon !== undefined && alone && !told) told = world.processes.kill(daemon, "SIGTERM");
    if (!(await pauses.next())) return stillThere(watchdog?.pid ?? daemon?.pid ?? 0);
  }
}

function stillThere(pid: number): Result<never> {
  return refused(
    "still-running",
    `Process ${pid} has not ended yet.`,
    "It will: `down` is recorded. `holdfast logs` shows what it waits for.",
  );
}

export const downCommand = withDaemonWorld(down);
