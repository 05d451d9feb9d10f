// The tunnel of this web host: its files, the key for devices, and the tabs that come through it.
// WT1. It is looked after with each heartbeat: enrolment, the operator's wish and safe mode take effect within seconds.
//      A home that is not enrolled costs a look at one file.
// WT2. The key for devices is made once and stays: devices know this home by it.
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import type { TunnelView } from "../core/tunnel/tunnel.ts";
import { TUNNEL_IDENTITY, TUNNEL_STATUS } from "../home/layout.ts";
import { readSafeMode } from "../home/safe-mode.ts";
import {
  type DeviceKey,
  isTunnelWanted,
  readDeviceKey,
  readEnrolment,
  type TunnelStatus,
  writeDeviceKey,
  writeEnrolment,
} from "../home/tunnel-files.ts";
import type { NoiseKey } from "../wire/noise/crypto.ts";
import type { WebNoise } from "../wire/noise/web-crypto.ts";
import { TUNNEL_CHANGED } from "../wire/page/messages.ts";
import type { Certificates } from "../world/certificates.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Processes } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { TunnelStream, TunnelStreamEvents, Tunnels } from "../world/tunnel.ts";
import { replaceSmall } from "./files.ts";
import type { WebHost } from "./host.ts";
import { RemoteTab } from "./remote-tab.ts";
import { HomeTunnel } from "./tunnel.ts";

export type TunnelWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly processes: Processes;
  readonly tunnels: Tunnels;
  readonly certificates: Certificates;
  readonly noise: WebNoise;
};

const KEY_BYTES = 32;

export class WebTunnel {
  readonly #world: TunnelWorld;
  readonly #home: string;
  readonly #host: Pick<WebHost, "browsers" | "tabs">;
  readonly #say: (words: string) => void;
  readonly #tunnel: HomeTunnel;
  #key: NoiseKey | undefined;
  #looking = false;

  constructor(
    world: TunnelWorld,
    home: string,
    host: Pick<WebHost, "browsers" | "tabs">,
    say: (words: string) => void,
  ) {
    this.#world = world;
    this.#home = home;
    this.#host = host;
    this.#say = say;
    this.#tunnel = new HomeTunnel({
      ...world,
      say,
      enrolment: () => readEnrolment(world.disk, home),
      store: (enrolment) => writeEnrolment(world.disk, home, enrolment),
      isWanted: () => isTunnelWanted(world.disk, home) && !readSafeMode(world.disk, home).active,
      tab: (stream) => this.#tab(stream),
      changed: (view, url) => this.#changed(view, url),
    });
  }

  /** WT1. Never throws; what fails is tried again. */
  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      if (this.#key === undefined && this.#isEnrolled()) this.#key = await this.#deviceKey();
      if (this.#key !== undefined) this.#tunnel.look();
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#say(`tunnel: ${error.message}. ${error.hint}`);
    } finally {
      this.#looking = false;
    }
  }

  close(): void {
    this.#tunnel.close();
  }

  #isEnrolled(): boolean {
    return this.#world.disk.stat(joinPath(this.#home, TUNNEL_IDENTITY)) !== undefined;
  }

  /** WT2 */
  async #deviceKey(): Promise<NoiseKey> {
    const { disk, random, noise } = this.#world;
    const stored = readDeviceKey(disk, this.#home);
    const secret = stored === undefined ? random.bytes(KEY_BYTES).slice() : Uint8Array.fromHex(stored.privateKey);
    const key = await noise.keyFrom(secret);
    const made: DeviceKey = { publicKey: key.publicKey.toHex(), privateKey: secret.toHex() };
    if (stored === undefined) await writeDeviceKey(disk, this.#home, made);
    return key;
  }

  #tab(stream: TunnelStream): TunnelStreamEvents {
    const { clock, noise } = this.#world;
    const { browsers, tabs } = this.#host;
    const failed = (error: unknown) => this.#say(`a tab failed: ${String(error)}`);
    if (this.#key === undefined) throw new Error("a tunnel is dialled only with a key for devices");
    return new RemoteTab(stream, { clock, crypto: noise, key: this.#key, browsers, accept: tabs.accept, failed });
  }

  #changed({ state, since, failures, dialAt, why }: TunnelView, url: string): void {
    const { clock, disk, processes } = this.#world;
    const wall = (elapsed: number) => new Date(clock.now() - clock.elapsed() + elapsed).toISOString();
    const status: TunnelStatus = {
      ...{ pid: processes.pid, state, since: wall(since), failures, why, url },
      dialAt: dialAt === null ? null : wall(dialAt),
    };
    try {
      replaceSmall(disk, joinPath(this.#home, TUNNEL_STATUS), `${JSON.stringify(status)}\n`);
    } catch (error) {
      if (!isFault(error)) throw error; // Only people read it.
    }
    this.#host.tabs.tell(TUNNEL_CHANGED);
  }
}
