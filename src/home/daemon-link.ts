// A tab's own connection to the daemon, on which the daemon sees that tab's browser and not this host (Z6 of
// daemon/rpc-server.ts). It is made again whenever it is lost, until the tab is gone.
// DL1. Every call ends within a bounded time, with a result or a refusal; one that was sent is never repeated here.
// DL2. Each change between up and down is reported once. `up` comes after the subscription: a list that is fetched
//      then misses no later change.
import { isFault } from "../base/fault.ts";
import { type Result, refused } from "../base/result.ts";
import type { DaemonState } from "../wire/page/messages.ts";
import { type Dial, GONE, RpcClient } from "../wire/rpc/client.ts";
import type { Method, Notice } from "../wire/rpc/rpc.ts";
import { VERSION } from "../wire/version.ts";
import type { Clock } from "../world/clock.ts";
import { pause } from "../world/wait.ts";

/** What changes something waits for the disk, and perhaps for others (DL1). */
export const CALL_MS = 10_000;
/** A killed daemon is back within a second. */
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1_000;

export const DAEMON_DOWN = "daemon.down";

export type LinkPorts = {
  readonly dial: Dial;
  readonly clock: Clock;
  /** The browser's. */
  readonly token: string;
  notice(notice: Notice): void;
  /** DL2 */
  changed(state: DaemonState): void;
};

export class DaemonLink {
  readonly #ports: LinkPorts;
  #client: Promise<Result<RpcClient>>;
  #topics: readonly string[] = [];
  #state: DaemonState = { up: false, why: "The daemon has not answered yet." };
  #closed = false;

  constructor(ports: LinkPorts) {
    this.#ports = ports;
    this.#client = this.#connect();
    void this.#keep();
  }

  get state(): DaemonState {
    return this.#state;
  }

  /** DL1 */
  async call(method: Method, params: object): Promise<Result<unknown>> {
    const client = await this.#client;
    return client.ok ? client.value.ask(method, params) : client;
  }

  /** From now on, and again on each connection. */
  async watch(topics: readonly string[]): Promise<void> {
    this.#topics = topics;
    if (this.#state.up) await this.call("subscribe", { topics });
  }

  close(): void {
    this.#closed = true;
    void this.#client.then((client) => client.ok && client.value.close());
  }

  async #keep(): Promise<void> {
    for (let ms = FIRST_PAUSE_MS; !this.#closed; ms = Math.min(2 * ms, MAX_PAUSE_MS)) {
      const client = await this.#client;
      if (client.ok) {
        await this.#serve(client.value);
        ms = FIRST_PAUSE_MS;
      } else this.#become({ up: false, why: client.error.message });
      if (this.#closed) return;
      await pause(this.#ports.clock, ms);
      this.#client = this.#connect();
    }
  }

  /** Until the connection is lost. */
  async #serve(client: RpcClient): Promise<void> {
    client.onNotice = (notice) => this.#ports.notice(notice);
    const subscribed = await this.#subscribe(client);
    if (subscribed.ok)
      this.#become({ up: true, why: "" }); // DL2
    else client.close();
    await client.closed;
    this.#become({ up: false, why: GONE.message });
  }

  /** The tab may ask for other topics meanwhile. */
  async #subscribe(client: RpcClient): Promise<Result<unknown>> {
    for (;;) {
      const topics = this.#topics;
      const done = await client.call("subscribe", { topics });
      if (!done.ok || topics === this.#topics) return done;
    }
  }

  #become(state: DaemonState): void {
    const isNew = state.up !== this.#state.up || state.why !== this.#state.why;
    this.#state = state;
    if (isNew && !this.#closed) this.#ports.changed(state);
  }

  async #connect(): Promise<Result<RpcClient>> {
    const { dial, clock, token } = this.#ports;
    if (this.#closed) return { ok: false, error: GONE };
    try {
      return await RpcClient.connect(dial, token, VERSION, { ms: CALL_MS, after: clock.after });
    } catch (error) {
      if (isFault(error)) return refused(DAEMON_DOWN, "The daemon is not running.", error.hint);
      throw error;
    }
  }
}
