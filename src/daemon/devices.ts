// Lets browsers in (core/devices.ts): makes links, exchanges each for a token, and knows the tokens. It needs no log,
// and works while the daemon recovers.
// DK1. What is answered is durable: changes are stored one after the other, and take effect once they are.
// DK2. A browser whose token is revoked is disconnected at once.
import { isFault } from "../base/fault.ts";
import { newId } from "../base/ids.ts";
import { ok, type Result, refused } from "../base/result.ts";
import * as core from "../core/devices.ts";
import { pairingKey, readDevices, writeDevices } from "../home/devices-file.ts";
import { paramsOf } from "../wire/rpc/params.ts";
import type { ListedDevice } from "../wire/rpc/rpc.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { sha256 } from "../world/hash.ts";
import type { Random } from "../world/random.ts";
import type { Handlers } from "./rpc-server.ts";

type DeviceWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly home: string;
};

type Redeemed = { readonly link: string; readonly name: string; readonly key?: string };

const SECRET_BYTES = 32;
/** Typed by nobody: it is in a link or a picture. */
const PAIRING_BYTES = 16;
const ID_BYTES = 16;

export class DeviceDesk {
  readonly #world: DeviceWorld;
  readonly #disconnect: (device: string) => void;
  #stored: core.Devices | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(world: DeviceWorld, disconnect: (device: string) => void) {
    this.#world = world;
    this.#disconnect = disconnect;
  }

  /** Throws a Fault if the disk does not answer; the next call tries again. */
  get #devices(): core.Devices {
    this.#stored ??= readDevices(this.#world.disk, this.#world.home);
    return this.#stored;
  }

  /** Those that may use the page now. Throws a Fault if the disk does not answer. */
  current(): readonly core.Device[] {
    return core.current(this.#devices, this.#now()).devices;
  }

  get handlers(): Handlers {
    return {
      "device.link": () => this.#link(),
      "device.redeem": async (given) => {
        const params = paramsOf("device.redeem", given);
        return params.ok ? this.#redeem(params.value) : params;
      },
      "device.pair": async (given) => {
        const params = paramsOf("device.pair", given);
        return params.ok ? this.#pair(params.value) : params;
      },
      "device.list": async () => ok(this.current().map(listed)),
      "device.revoke": async (given) => {
        const params = paramsOf("device.revoke", given);
        return params.ok ? this.#revoke(params.value.id) : params;
      },
    };
  }

  /** The device that has this token; undefined if it is not known. Counts as a use of it. */
  bearer(token: string): core.Device | undefined {
    const known = this.#known(token);
    // If it cannot be stored, it expires a little earlier.
    if (known !== undefined) void this.#change((now, at) => ok(core.usedNow(now, known.id, at))).catch(() => undefined);
    return known;
  }

  #known(token: string): core.Device | undefined {
    try {
      return core.deviceOf(this.#devices, sha256(token), this.#now());
    } catch (error) {
      if (isFault(error)) return undefined;
      throw error;
    }
  }

  async #link(): Promise<Result<{ link: string; until: string }>> {
    const link = this.#secret();
    const done = await this.#change((now, at) => ok(core.withLink(now, sha256(link), at)));
    return done.ok ? ok({ link, until: done.value.links.at(-1)?.until ?? "" }) : done;
  }

  /** The secret is shown once; what it makes of the handshake with the device is stored (DV2). */
  async #pair({ rights, name }: core.Pairing): Promise<Result<{ secret: string; until: string }>> {
    const secret = this.#world.random.bytes(PAIRING_BYTES);
    const done = await this.#change((now, at) => ok(core.withLink(now, pairingKey(secret), at, { rights, name })));
    return done.ok ? ok({ secret: secret.toHex(), until: done.value.links.at(-1)?.until ?? "" }) : done;
  }

  async #redeem({ link, name, key }: Redeemed): Promise<Result<{ id: string; token: string }>> {
    const token = this.#secret();
    const id = newId(this.#world.random.bytes(ID_BYTES));
    const device = { id, name, hash: sha256(token), ...(key !== undefined && { key }) };
    // The web host knows a pairing by what the handshake used, not by its secret.
    const hash = key === undefined ? sha256(link) : link;
    const done = await this.#change((now, at) => core.redeemed(now, hash, device, at));
    if (!done.ok) return done;
    const made = done.value.devices.find((one) => one.hash === device.hash); // It may have been there before (DV6).
    return ok({ id: made?.id ?? id, token });
  }

  async #revoke(id: string): Promise<Result<ListedDevice>> {
    const known = this.#devices.devices.find((one) => one.id === id);
    if (known === undefined) return refused("unknown", `There is no device ${id}.`, "holdfast devices ls shows them.");
    const done = await this.#change((now) => ok(core.revoked(now, id)));
    if (!done.ok) return done;
    this.#disconnect(id); // DK2
    return ok(listed(known));
  }

  /** DK1 */
  #change(make: (before: core.Devices, now: number) => Result<core.Devices>): Promise<Result<core.Devices>> {
    const done = this.#turn.then(async () => {
      const after = make(this.#devices, this.#now());
      if (!after.ok || after.value === this.#devices) return after;
      await writeDevices(this.#world.disk, this.#world.home, after.value);
      this.#stored = after.value;
      return after;
    });
    this.#turn = done.catch(() => undefined); // The caller gets the error.
    return done;
  }

  #now(): number {
    return this.#world.clock.now();
  }

  #secret(): string {
    return this.#world.random.bytes(SECRET_BYTES).toHex();
  }
}

function listed({ id, name, madeAt, usedAt, key, rights }: Omit<core.Device, "hash">): ListedDevice {
  return { id, name, madeAt, usedAt, kind: key === undefined ? "browser" : "paired", rights: rights ?? "type" };
}
