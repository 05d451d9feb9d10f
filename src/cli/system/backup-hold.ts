// Keeps a home still for a backup: through its daemon, or, if Holdfast is down, by the lock of its log.
// BH1. Nothing is started. If Holdfast is down, none can start before the backup is written: the lock is the daemon's.
// BH2. The daemon is told several times a second that we are still there (daemon/backup-pin.ts).
import { newId } from "../../base/ids.ts";
import { joinPath } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { Stopped } from "../../home/backup/stopped.ts";
import type { Hold } from "../../home/backup/take.ts";
import { WAL_LOCK } from "../../home/layout.ts";
import { isHeld, runningOn } from "../../home/running.ts";
import { takeLock } from "../../log/file/lock.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import type { Clock } from "../../world/clock.ts";
import { identify } from "../../world/process.ts";
import { liveDaemon } from "../client.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

/** `beat`: called often; throws if the hold did not last. `close`: whatever happens, at the end. */
export type HomeHold = Hold & { beat(): Promise<void>; close(): Promise<void> };

/** BH2 */
const BEAT_MS = 400;

export async function holdOf(world: DaemonCommandWorld, home: string): Promise<Result<HomeHold>> {
  const { watchdog, daemon } = runningOn(world, home);
  if (isHeld(world, joinPath(home, RELAY_LOCK))) return RELAY_RUNS;
  if (watchdog === undefined && daemon === undefined) return lockHold(world, home);
  const client = await liveDaemon(world, home);
  return client.ok ? ok(new DaemonHold(client.value, world.clock, newId(world.random.bytes(16)))) : client;
}

const RELAY_LOCK = "relay/relay.lock";
const RELAY_RUNS = refused(
  "running",
  "A relay is running on this home.",
  "Stop it for the backup; homes and browsers connect again when it is back.",
);

/** BH1 */
function lockHold(world: DaemonCommandWorld, home: string): Result<HomeHold> {
  const us = identify(world.processes, world.processes.pid);
  if (us === undefined) throw new Error("this process is in /proc");
  const lock = takeLock(world, joinPath(home, WAL_LOCK), us);
  if (!lock.ok) return lock;
  const nothing = async () => ok(undefined);
  const still = { begin: nothing, hold: nothing, release: nothing, end: nothing, beat: async () => undefined };
  return ok({ ...still, close: async () => lock.value.release() });
}

class DaemonHold implements HomeHold {
  readonly #client: RpcClient;
  readonly #clock: Clock;
  readonly #id: string;
  #step: "pin" | "hold" = "pin";
  #last = Number.POSITIVE_INFINITY;

  constructor(client: RpcClient, clock: Clock, id: string) {
    this.#client = client;
    this.#clock = clock;
    this.#id = id;
  }

  begin() {
    return this.#say("pin");
  }

  hold() {
    this.#step = "hold";
    return this.#say("hold");
  }

  release() {
    this.#step = "pin";
    return this.#say("release");
  }

  end() {
    return this.#say("end");
  }

  async #say(step: "pin" | "hold" | "release" | "end") {
    const said = await this.#client.call("backup", { step, id: this.#id });
    this.#last = step === "end" ? Number.POSITIVE_INFINITY : this.#clock.elapsed();
    return said;
  }

  /** BH2 */
  async beat(): Promise<void> {
    if (this.#clock.elapsed() - this.#last < BEAT_MS) return;
    const said = await this.#say(this.#step);
    if (!said.ok) throw new Stopped(said.error);
  }

  /** If the daemon is gone, so is the pin. */
  async close(): Promise<void> {
    if (Number.isFinite(this.#last)) await this.#say("end");
    this.#client.close();
  }
}
