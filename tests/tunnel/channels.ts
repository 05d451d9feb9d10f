// A device and a home with a stream between them that a test can change.

import { Channel, type ChannelEnd, type ChannelPorts } from "../../src/wire/noise/channel.ts";
import { type Bytes, joined, type NoiseKey } from "../../src/wire/noise/crypto.ts";
import type { PskOf } from "../../src/wire/noise/handshake.ts";
import { WebNoise } from "../../src/wire/noise/web-crypto.ts";
import { until } from "../until.ts";

export const web = new WebNoise(crypto.subtle);
export const HOME = await web.keyFrom(new Uint8Array(32).fill(7));
export const DEVICE = await web.keyFrom(new Uint8Array(32).fill(9));
export const PSK: Bytes = new Uint8Array(32).fill(3);
export const MOST = 1 << 20;

/** What an end of a channel has seen. */
export class End {
  readonly messages: (string | Bytes)[] = [];
  readonly ends: ChannelEnd[] = [];
  opened: { readonly peer: string; readonly psk: number } | undefined;

  open(peer: Bytes, psk: number): void {
    this.opened = { peer: peer.toHex(), psk };
  }

  message(message: string | Bytes): void {
    this.messages.push(message);
  }

  closed(end: ChannelEnd): void {
    this.ends.push(end);
  }
}

/** What the relay does with what one side sends; it passes on what this returns. */
export type Meddle = (bytes: Bytes, from: "device" | "home", at: number) => readonly Uint8Array[];
export type PairOptions = {
  readonly meddle?: Meddle;
  readonly pskOf?: PskOf;
  readonly psk?: Bytes;
  readonly home?: NoiseKey;
  readonly mostMessages?: number;
};

export class Pair {
  readonly device = { seen: new End(), sent: [] as Bytes[], isClosed: false };
  readonly home = { seen: new End(), sent: [] as Bytes[], isClosed: false };
  readonly ofDevice: Channel;
  readonly ofHome: Channel;
  readonly #meddle: Meddle;

  constructor({ meddle = (bytes) => [bytes], pskOf = () => [PSK], psk = PSK, home = HOME, mostMessages }: PairOptions) {
    this.#meddle = meddle;
    const limits = { most: MOST, ...(mostMessages !== undefined && { mostMessages }) };
    this.ofHome = Channel.respond({ ...this.#ports("home"), ...limits }, { key: HOME, pskOf }, this.home.seen);
    const initiator = { key: DEVICE, home: home.publicKey, psk };
    this.ofDevice = Channel.initiate({ ...this.#ports("device"), ...limits }, initiator, this.device.seen);
  }

  /** What is sent goes to the other side by way of the relay; a closed stream is closed for both. */
  #ports(from: "device" | "home"): Pick<ChannelPorts, "crypto" | "send" | "close"> {
    const other = () => (from === "device" ? this.ofHome : this.ofDevice);
    return {
      crypto: web,
      send: (bytes) => {
        const at = this[from].sent.push(bytes) - 1;
        for (const piece of this.#meddle(bytes, from, at)) void other().receive(piece);
      },
      close: () => {
        this[from].isClosed = true;
        other().lost();
      },
    };
  }

  async opened(): Promise<this> {
    const { device, home } = this;
    await until(
      "both sides are open",
      () => device.seen.opened !== undefined && home.seen.opened !== undefined,
      () => [device, home],
    );
    return this;
  }

  /** It has sent so many times, or there is nothing left to send to. */
  async sent(side: "device" | "home", count: number): Promise<void> {
    const { sent, seen } = this[side];
    const isDone = () => sent.length >= count || seen.ends.length > 0;
    await until(`the ${side} sends ${count} times`, isDone, () => sent.length);
  }

  /** Its handshake is over, one way or the other. */
  async settled(side: "device" | "home"): Promise<void> {
    const { seen } = this[side];
    await until(
      `the ${side}'s handshake is over`,
      () => seen.opened !== undefined || seen.ends.length > 0,
      () => seen,
    );
  }

  /** How the channel ended for a side. */
  async endOf(side: "device" | "home"): Promise<ChannelEnd> {
    const { seen } = this[side];
    return await until(
      `the ${side}'s channel ends`,
      () => seen.ends[0],
      () => seen,
    );
  }

  async heard(side: "device" | "home", count: number): Promise<readonly (string | Bytes)[]> {
    const { seen } = this[side];
    return await until(
      `the ${side} hears ${count} messages`,
      () => seen.messages.length >= count && seen.messages,
      () => [seen.messages.length, seen.ends],
    );
  }
}

/** A Noise message as it stands on the stream. */
export function framed(message: Uint8Array): Bytes {
  return joined(Uint8Array.of(message.length >> 8, message.length), message);
}
