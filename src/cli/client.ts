// A client of a live daemon, which is started first if necessary.
// E2. `onDaemon` starts the daemon if there is no reply, waits until it is live, and retries requests that were lost,
//     all within a time limit. While one daemon's recovery makes progress the limit is extended; a second daemon gets
//     no extra time of its own.
// E3. A daemon that runs but does not answer is reported with what can be done, after little more than ten seconds.
// E4. If the database of its fleet cannot be used, for which it may only wait, that is said, too.
import { ok, type Refusal, type Result } from "../base/result.ts";
import { type RecoveryStage, retriedStage } from "../core/recovery.ts";
import { dial, HELLO_MS } from "../home/dial.ts";
import { type RpcClient, SILENT } from "../wire/rpc/client.ts";
import { followsRefusal, type StatusResult } from "../wire/rpc/rpc.ts";
import { Pauses, within } from "../world/wait.ts";
import type { DaemonCommandWorld } from "./daemon-command-world.ts";

/** E2: a cold start takes half a second; recovering hundreds of terminals takes longer. */
const LIVE_LIMITS = { firstMs: 5, mostMs: 100, allMs: 30_000 };
/** On one connection. The daemon drops a client with more than 256 open requests. */
export const REQUESTS_AT_ONCE = 64;
/** E4. It answers at once, unless it hangs. */
const STATUS_MS = 1_000;
/** Commands that only look can fall back to the disk. */
export const LOOK_MS = 5_000;

/** A client of a daemon that accepts changes; starts the daemon if it is not running (E2). */
export async function liveDaemon(
  world: DaemonCommandWorld,
  home: string,
  allMs: number = LIVE_LIMITS.allMs,
): Promise<Result<RpcClient>> {
  const first = await tryLive(world, home);
  if (first.kind === "settled") return first.result;
  const { Starter } = await import("./start.ts"); // Most commands find the daemon live and do not need this.
  const starter = new Starter(world, home);
  const pauses = new Pauses(world.clock, { ...LIVE_LIMITS, allMs });
  let attempt: Attempt = first;
  let before = first;
  do {
    const trouble = await starter.see(attempt.stage, attempt);
    if (trouble !== undefined) return { ok: false, error: trouble };
    if (allMs === LIVE_LIMITS.allMs && goesOn(before, attempt)) pauses.extend();
    if (before.pid === undefined || before.pid === attempt.pid) before = attempt;
    if (!(await pauses.next())) return { ok: false, error: starter.tooLate() };
    attempt = await tryLive(world, home);
  } while (attempt.kind === "waiting");
  return attempt.result;
}

/** Daemons of older versions do not say it with their hello, and are asked. */
export async function stageOf(client: RpcClient): Promise<RecoveryStage | undefined> {
  if (client.stage !== undefined) return client.stage;
  const status = await client.call("status", {});
  return status.ok ? status.value.recovery.stage : undefined;
}

type Attempt = { readonly kind: "settled"; readonly result: Result<RpcClient> } | Waiting;

/** `stage` and `pid` are undefined if there is no reply. */
type Waiting = Pick<StatusResult["recovery"], "progress" | "reading"> & {
  readonly kind: "waiting";
  readonly stage: RecoveryStage | undefined;
  readonly pid: number | undefined;
};

/** Whether the same daemon has made progress (E2). */
function goesOn(before: Waiting, now: Waiting): boolean {
  const place = ({ stage, progress, reading }: Waiting) => JSON.stringify([stage, progress, reading]);
  return now.pid !== undefined && now.pid === before.pid && place(now) !== place(before);
}

async function tryLive(world: DaemonCommandWorld, home: string): Promise<Attempt> {
  const line = await dial(world, home);
  if (!line.ok) return { kind: "settled", result: line };
  if (line.value === undefined) return { kind: "waiting", stage: undefined, pid: undefined };
  const client = line.value;
  if (client.stage === "LIVE") return { kind: "settled", result: ok(client) };
  const status = await within(world.clock, HELLO_MS, client.call("status", {}));
  const { daemon, recovery, fleet } = status?.ok === true ? status.value : NO_STATUS;
  const stage = recovery?.stage;
  if (stage === "LIVE") return { kind: "settled", result: ok(client) };
  client.close();
  if (fleet?.role === "follower") return { kind: "settled", result: { ok: false, error: followsRefusal(fleet.owner) } };
  const failed = stage !== undefined && retriedStage(stage) !== undefined;
  return failed ? { kind: "settled", result: recoveryFailed(stage) } : waiting(recovery, daemon?.pid);
}

const NO_STATUS = { daemon: undefined, recovery: undefined, fleet: undefined };

function waiting(recovery: StatusResult["recovery"] | undefined, pid: number | undefined): Waiting {
  const { stage, progress = null, reading = null } = recovery ?? { stage: undefined };
  return { kind: "waiting", stage, progress, reading, pid };
}

function recoveryFailed(stage: RecoveryStage): Result<never> {
  const message = `Recovery stopped (${stage}), and changes are refused until it continues.`;
  const hint = "See why with `holdfast recovery status` and `holdfast logs`, then: holdfast recovery retry";
  return { ok: false, error: { code: "recovery-failed", message, hint } };
}

/** `again`: the daemon went away after an earlier attempt, which it may have accepted. */
export type Act<T> = (client: RpcClient, again: boolean) => Promise<Result<T>>;

/** Runs `act` with a live daemon (E2). */
export async function onDaemon<T>(world: DaemonCommandWorld, home: string, act: Act<T>): Promise<Result<T>> {
  const pauses = new Pauses(world.clock, LIVE_LIMITS);
  let again = false;
  for (;;) {
    const client = await liveDaemon(world, home);
    if (!client.ok) return client;
    const done = await act(client.value, again);
    const why = done.ok || done.error.code !== SILENT ? undefined : await whyAway(world, client.value);
    client.value.close();
    if (!done.ok && why !== undefined) return { ok: false, error: waitsFor(why, done.error) };
    if (done.ok || !isRetryableRefusal(done.error) || !(await pauses.next())) return done;
    again ||= done.error.code === "daemon.gone";
  }
}

/** E4. Why the database of its fleet does not answer; undefined if it does, or there is none. */
async function whyAway(world: DaemonCommandWorld, client: RpcClient): Promise<string | undefined> {
  const status = await within(world.clock, STATUS_MS, client.call("status", {}));
  return (status?.ok === true && status.value.fleet?.why) || undefined;
}

function waitsFor(why: string, { code, message }: Refusal): Refusal {
  const hint = "If it waits for that, it is done when the database can be used. `holdfast fleet status` says more.";
  return { code, message: `${message} The database of the fleet cannot be used now: ${why}`, hint };
}

export function isRetryableRefusal({ code }: Refusal): boolean {
  return code === "not-live" || code === "daemon.gone";
}
