// The browsers that may use the page: each has a token of its own (core/devices.ts).
// BW1. Whether a token is good is decided by the file on disk as it is now: one that was revoked is refused at once,
//      also while the daemon is down. The file is read again only if it has changed.
// BW2. Wrong tokens and links are limited, all together; a right one always works.
import { type Budget, isExhausted, newBudget, spend } from "../base/budget.ts";
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { current, type Device, type Devices, deviceOf, NO_DEVICES } from "../core/devices.ts";
import { CALL_MS, DAEMON_DOWN } from "../home/daemon-link.ts";
import { readDevices } from "../home/devices-file.ts";
import { DEVICES } from "../home/layout.ts";
import { type Dial, RpcClient } from "../wire/rpc/client.ts";
import type { Methods } from "../wire/rpc/rpc.ts";
import { VERSION } from "../wire/version.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { sha256 } from "../world/hash.ts";

/** BW2. A person mistypes nothing here; a page that was signed out asks every few seconds. */
const WRONG = newBudget(60, 60_000);

export type BrowserWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly home: string;
  readonly dial: Dial;
  /** This home's token, for exchanging links; undefined if there is none yet. */
  token(): string | undefined;
};

export class Browsers {
  readonly #world: BrowserWorld;
  #wrong: Budget = WRONG;
  #known: { readonly version: string; readonly devices: Devices } = { version: "", devices: NO_DEVICES };

  constructor(world: BrowserWorld) {
    this.#world = world;
  }

  /** BW1. The browser with this token; undefined for a wrong one. */
  of(token: string): Device | undefined {
    return deviceOf(this.#readable(), sha256(token), this.#world.clock.now());
  }

  /** Those that come through a relay, and what may pair one (DV5). If the disk does not answer, nobody may come. */
  remote(): Devices {
    const { links, devices } = current(this.#readable(), this.#world.clock.now());
    return {
      links: links.filter(({ rights }) => rights !== undefined),
      devices: devices.filter(({ key }) => key !== undefined),
    };
  }

  /** Whether there were too many wrong ones lately; counts one more (BW2). */
  wrong(): boolean {
    const now = this.#world.clock.elapsed();
    const tooMany = isExhausted(this.#wrong, now);
    if (!tooMany) this.#wrong = spend(this.#wrong, now);
    return tooMany;
  }

  /** Exchanges a link for a token; `key`: of a device that is paired. */
  async redeem(link: string, name: string, key?: string): Promise<Result<Methods["device.redeem"]["result"]>> {
    const client = await this.#asOperator();
    if (!client.ok) return client;
    const done = await client.value.call("device.redeem", { link, name, ...(key !== undefined && { key }) });
    client.value.close();
    return done;
  }

  async #asOperator(): Promise<Result<RpcClient>> {
    const { clock, dial } = this.#world;
    const token = this.#world.token();
    if (token === undefined) return refused(DAEMON_DOWN, "The daemon has not been started on this home yet.", "");
    try {
      const client = await RpcClient.connect(dial, token, VERSION, { ms: CALL_MS, after: clock.after });
      return client.ok ? ok(client.value) : client;
    } catch (error) {
      if (isFault(error)) return refused(DAEMON_DOWN, "The daemon is not running.", error.hint);
      throw error;
    }
  }

  #readable(): Devices {
    try {
      return this.#devices();
    } catch (error) {
      if (isFault(error)) return NO_DEVICES;
      throw error;
    }
  }

  /** BW1 */
  #devices(): Devices {
    const { disk, home } = this.#world;
    const stat = disk.stat(joinPath(home, DEVICES));
    const version = stat === undefined ? "none" : `${stat.id} ${stat.modifiedMs} ${stat.size}`;
    if (version !== this.#known.version) this.#known = { version, devices: readDevices(disk, home) };
    return this.#known.devices;
  }
}
