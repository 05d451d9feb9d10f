// A browser that comes through the relay: an encrypted channel on a stream of the tunnel (wire/noise), and in it the
// page's messages, as from a WebSocket.
// RB1. A device is known by its key, and proves it and its token, before anything that it says is looked at. With the
//      secret of a pairing it becomes a device first; that is durable before it gets its token. If the token is lost on
//      its way, the device shows the secret again, and gets another one (DV6 of core/devices.ts).
// RB2. On this channel only the token of that device opens the page, and only while it is not revoked.
// RB3. What arrives is read as fast as it is decrypted; what is sent is counted until the tunnel has taken it.
// RB4. A channel that does not open in time is closed.
// RB5. An error of ours ends this tab, and no other one.
import { isFault } from "../base/fault.ts";
import type { Device } from "../core/devices.ts";
import { MAX_LINE } from "../wire/lines.ts";
import { Channel } from "../wire/noise/channel.ts";
import type { Bytes, NoiseCrypto, NoiseKey } from "../wire/noise/crypto.ts";
import { CLOSE } from "../wire/page/messages.ts";
import type { Clock } from "../world/clock.ts";
import type { WebSocketConnection, WebSocketEvents } from "../world/http.ts";
import type { TunnelStream, TunnelStreamEvents } from "../world/tunnel.ts";
import type { Browsers } from "./browsers.ts";

/** RB4. Two round trips through a relay, from a slow phone. */
const OPEN_MS = 20_000;

export type RemotePorts = {
  readonly clock: Clock;
  readonly crypto: NoiseCrypto;
  /** This home's key for devices. */
  readonly key: NoiseKey;
  readonly browsers: Browsers;
  /** A tab for a device; `browsers` knows no other one. */
  accept(socket: WebSocketConnection, browsers: Pick<Browsers, "of" | "wrong">): WebSocketEvents;
  failed(error: unknown): void;
};

/** What a device may have proved: its own token, or the secret of a pairing. */
type Candidate = { readonly psk: string; readonly device?: Device };

export class RemoteTab implements TunnelStreamEvents, WebSocketConnection {
  readonly #ports: RemotePorts;
  readonly #stream: TunnelStream;
  readonly #channel: Channel;
  readonly #stopWaiting: () => void;
  #candidates: readonly Candidate[] = [];
  #page: WebSocketEvents | undefined;
  #hasFailed = false;
  /** Of what the tunnel has not taken yet. */
  #unsent = 0;

  constructor(stream: TunnelStream, ports: RemotePorts) {
    this.#ports = ports;
    this.#stream = stream;
    const { crypto, key } = ports;
    this.#channel = Channel.respond(
      { crypto, most: MAX_LINE, send: (bytes) => this.#write(bytes), close: () => stream.end() },
      { key, pskOf: (peer) => this.#psksOf(peer) },
      {
        open: (peer, psk) => void this.#opened(peer, psk),
        message: (message) => this.#page?.message(message),
        closed: () => this.#ended(),
      },
    );
    this.#stopWaiting = ports.clock.after(OPEN_MS, () => this.destroy());
  }

  // What the tunnel says.

  bytes(bytes: Uint8Array): void {
    this.#stream.pause(); // RB3
    void this.#channel.receive(bytes).then(
      () => this.#stream.resume(),
      (error: unknown) => this.#fail(error),
    );
  }

  drained(): void {
    this.#unsent = 0;
  }

  closed(): void {
    this.#stopWaiting();
    if (this.#hasFailed) this.#ended();
    else this.#channel.lost();
  }

  // What the tab asks for.

  send(message: string | Uint8Array<ArrayBuffer>): void {
    this.#channel.send(message);
  }

  get waiting(): number {
    return this.#channel.waiting + this.#unsent;
  }

  close(code: number, reason: string): void {
    this.#channel.close(code, reason);
  }

  destroy(): void {
    this.#stopWaiting();
    this.#stream.destroy();
  }

  #write(bytes: Uint8Array): void {
    if (!this.#stream.send(bytes)) this.#unsent += bytes.length;
  }

  /** RB1 */
  #psksOf(peer: Bytes): Bytes[] {
    const { links, devices } = this.#ports.browsers.remote();
    const known = devices.filter(({ key }) => key === peer.toHex());
    const pairings = [...links.map(({ hash }) => hash), ...known.flatMap(({ link }) => link ?? [])];
    this.#candidates = [...known.map((device) => ({ psk: device.hash, device })), ...pairings.map((psk) => ({ psk }))];
    return this.#candidates.map(({ psk }) => Uint8Array.fromHex(psk));
  }

  async #opened(peer: Bytes, psk: number): Promise<void> {
    this.#stopWaiting();
    const { device, psk: used } = this.#candidates[psk] ?? { psk: "" };
    try {
      if (device === undefined) await this.#pair(used, peer.toHex());
      else this.#begin(device.key);
    } catch (error) {
      if (!isFault(error)) this.#ports.failed(error);
      this.close(CLOSE.broken, "This failed at home. Try again; `holdfast logs` there says more.");
    }
  }

  /** RB1 */
  async #pair(secret: string, key: string): Promise<void> {
    const done = await this.#ports.browsers.redeem(secret, "paired device", key);
    if (!done.ok) return this.close(CLOSE.signedOut, `${done.error.message} ${done.error.hint}`);
    this.#channel.send(JSON.stringify({ type: "paired", token: done.value.token }));
    this.#begin(key);
  }

  /** RB2 */
  #begin(key: string | undefined): void {
    const { browsers, accept } = this.#ports;
    const of = (token: string) => {
      const device = browsers.of(token);
      return device?.key === key ? device : undefined;
    };
    this.#page = accept(this, { of, wrong: () => browsers.wrong() });
  }

  /** RB5 */
  #fail(error: unknown): void {
    this.#hasFailed = true;
    this.#ports.failed(error);
    this.destroy();
  }

  #ended(): void {
    this.#stopWaiting();
    this.#page?.closed();
    this.#page = undefined;
  }
}
