// The host's connection to the daemon: one connection, kept while it works and pages ask, made again when it fails.
// L1. However many pages ask at once, the daemon is asked once.
// L2. Every request ends within a bounded time: a stopped daemon must not pile up waiting pages.
// L3. When no page asks any more, the connection is closed: an open one wakes both processes about once a second.
import { isFault } from "../base/fault.ts";
import { type Refusal, type Result, refused } from "../base/result.ts";
import { type Dial, RpcClient, type Wire } from "../wire/rpc/client.ts";
import type { StatusResult } from "../wire/rpc/rpc.ts";
import { VERSION } from "../wire/version.ts";
import type { Clock } from "../world/clock.ts";
import { type DaemonView, rowOf } from "./status-view.ts";

/** Longer than any healthy answer, shorter than a person's patience. */
const PATIENCE_MS = 2_000;
/** L3. An open page asks every few seconds. */
const UNASKED_MS = 30_000;
const SLOW: Refusal = {
  code: "daemon.slow",
  message: "The daemon does not answer.",
  hint: "The watchdog starts it again if it stays silent.",
};

export type DaemonPorts = {
  readonly dial: Dial;
  /** This home's token, read each time: a new home makes a new one. */
  token(): string | undefined;
  readonly clock: Clock;
};

export class DaemonLink {
  readonly #ports: DaemonPorts;
  #wire: Wire | undefined;
  #client: RpcClient | undefined;
  #asking: Promise<DaemonView> | undefined;
  #cancel: () => void = () => undefined;

  constructor(ports: DaemonPorts) {
    this.#ports = ports;
  }

  look(): Promise<DaemonView> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking; // L1
  }

  close(): void {
    this.#cancel();
    this.#wire?.end();
    this.#wire = undefined;
    this.#client = undefined;
  }

  async #ask(): Promise<DaemonView> {
    this.#cancel();
    const answer = await this.#inTime(this.#look());
    if (!answer.ok) {
      this.close();
      return { kind: "down", why: answer.error.message };
    }
    this.#cancel = this.#ports.clock.after(UNASKED_MS, () => this.close()); // L3
    return answer.value;
  }

  async #look(): Promise<Result<DaemonView>> {
    const client = await this.#connected();
    if (!client.ok) return client;
    const [status, list] = await Promise.all([client.value.call("status", {}), client.value.call("terminal.list", {})]);
    if (!status.ok) return status;
    // During recovery the list may be refused while the status is not.
    const terminals = list.ok ? list.value.map(rowOf) : [];
    return { ok: true, value: { kind: "up", status: withoutToken(status.value), terminals } };
  }

  async #connected(): Promise<Result<RpcClient>> {
    if (this.#client !== undefined) return { ok: true, value: this.#client };
    const token = this.#ports.token();
    if (token === undefined) return refused("daemon.down", "The daemon has not been started on this home yet.", "");
    try {
      const client = await RpcClient.connect(this.#dial, token, VERSION);
      if (client.ok) this.#keep(client.value);
      return client;
    } catch (error) {
      if (isFault(error)) return refused("daemon.down", "The daemon is not running.", error.hint);
      throw error;
    }
  }

  /** Kept from the first moment: a connection that is never greeted is closed as well when the time is over. */
  readonly #dial: Dial = async (events) => {
    this.#wire = await this.#ports.dial(events);
    return this.#wire;
  };

  #keep(client: RpcClient): void {
    this.#client = client;
    void client.closed.then(() => {
      if (this.#client === client) this.#client = undefined;
    });
  }

  /** L2. */
  #inTime<T>(work: Promise<Result<T>>): Promise<Result<T>> {
    return new Promise((done, failed) => {
      const cancel = this.#ports.clock.after(PATIENCE_MS, () => done({ ok: false, error: SLOW }));
      work.then(done, failed).finally(cancel);
    });
  }
}

/** The address contains the page's token, which no script may have: that is what the cookie is for (guard.ts, G3). */
function withoutToken(status: StatusResult): StatusResult {
  return { ...status, web: { ...status.web, url: null } };
}
