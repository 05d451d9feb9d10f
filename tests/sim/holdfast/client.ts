// A client of a simulated daemon, as long as its day lasts: the real RPC over the machine's sockets.
// CI1. When the daemon is gone, the day is `Over`.
// CI2. What a fault refuses or delays is there within ten seconds: then the same request is taken. In a fleet, whose
//      database has troubles at any time, it is longer.
// CI3. Of a home that another host takes, nothing more is asked here.
import { isFault } from "../../../src/base/fault.ts";
import type { Result } from "../../../src/base/result.ts";
import { DAEMON_SOCKET, TOKEN } from "../../../src/home/layout.ts";
import { readSmall } from "../../../src/home/small-file.ts";
import { RpcClient } from "../../../src/wire/rpc/client.ts";
import type { Method, Methods } from "../../../src/wire/rpc/rpc.ts";
import { VERSION } from "../../../src/wire/version.ts";
import { HOME } from "../machine.ts";
import type { HoldfastMachine } from "./machine.ts";

/** CI1 */
export class Over extends Error {}

export const POLL_MS = 50;
/** Longer than any start, any grace and any backoff takes that is waited for here. */
export const PATIENCE_MS = 60_000;
/** CI2 */
const HEALED_MS = 10_000;
const HEALED_IN_FLEET_MS = 60_000;

export class Client {
  readonly #machine: HoldfastMachine;
  /** Our own process. */
  readonly me;
  #client: RpcClient | undefined;

  constructor(machine: HoldfastMachine) {
    this.#machine = machine;
    this.me = machine.born();
  }

  /** CI2. Now, if no call has failed. */
  get healedBy(): number {
    const { awake, harm, fleet } = this.#machine;
    if (fleet !== undefined) return awake + HEALED_IN_FLEET_MS;
    return awake + (harm.isDone ? HEALED_MS : 0);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => this.#machine.doors(this.me).clock.after(ms, wake));
  }

  /** Waits until the daemon is live, and its recovery is reported (CI2). */
  async live(): Promise<void> {
    const machine = this.#machine;
    const until = machine.awake + PATIENCE_MS * (machine.fleet === undefined ? 1 : 2);
    let reportedBy = Number.POSITIVE_INFINITY;
    for (;;) {
      this.#client ??= await this.#connect();
      const status = await this.#client?.call("status", {});
      const recovery = status?.ok === true ? status.value.recovery : undefined;
      if (recovery?.stage === "LIVE") {
        if (recovery.report !== null) return;
        reportedBy = this.#reportedBy(reportedBy);
      }
      if (machine.fleet?.isMoving === true) throw new Over(); // CI3
      if (machine.awake > until) throw new Error(`it is not live: ${JSON.stringify(status)}`);
      if (machine.awake >= reportedBy) throw new Error("a recovery ends without a report");
      await this.sleep(POLL_MS);
    }
  }

  /** Waits until the daemon follows, and takes no work. */
  async follows(): Promise<void> {
    for (;;) {
      this.#client ??= await this.#connect();
      const status = await this.#client?.call("status", {});
      if (status?.ok === true && status.value.fleet?.role === "follower") break;
      await this.sleep(POLL_MS);
    }
    const answer = await this.#client?.call("terminal.list", {});
    if (answer?.ok !== false || answer.error.code !== "fleet-follows")
      throw new Error(`a follower answers ${JSON.stringify(answer)}`);
  }

  /** It waits for room if there is none (RW1 of home/report-writer.ts). */
  #reportedBy(before: number): number {
    const { isFull, harm, awake } = this.#machine;
    if (isFull) return Number.POSITIVE_INFINITY;
    return Math.min(before, harm.foundNoRoom ? awake + HEALED_MS : this.healedBy);
  }

  async #connect(): Promise<RpcClient | undefined> {
    const { sockets, disk } = this.#machine.doors(this.me);
    try {
      const dial = (events: Parameters<typeof sockets.connect>[1]) =>
        sockets.connect(`${HOME}/${DAEMON_SOCKET}`, events);
      const client = await RpcClient.connect(dial, readSmall(disk, HOME, TOKEN), VERSION);
      if (!client.ok) return undefined;
      void client.value.closed.then(() => {
        if (this.#client === client.value) this.#client = undefined;
      });
      return client.value;
    } catch (error) {
      if (isFault(error)) return undefined;
      throw error;
    }
  }

  async call<M extends Method>(method: M, params: Methods[M]["params"]): Promise<Result<Methods[M]["result"]>> {
    const client = this.#client;
    const answer = await client?.call(method, params);
    if (client === undefined || answer === undefined || this.me.life.dead) throw new Over(); // CI1
    if (!answer.ok && this.#machine.fleet?.isMoving === true) throw new Over(); // CI3
    if (!answer.ok && answer.error.code === "daemon.gone") throw new Over();
    return answer;
  }

  /** What must not be refused, or for ten seconds at most (CI2). */
  async ask<M extends Method>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    let until = Number.POSITIVE_INFINITY;
    for (;;) {
      const answer = await this.call(method, params);
      if (answer.ok) return answer.value;
      const { code, message } = answer.error;
      until = Math.min(until, this.healedBy);
      if (this.#machine.awake >= until)
        throw new Error(`${method} ${JSON.stringify(params)} was refused: ${code}: ${message}`);
      await this.sleep(POLL_MS);
    }
  }
}
