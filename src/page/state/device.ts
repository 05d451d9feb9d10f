// This browser as a device that reaches its home through a relay: pairing, and the encrypted way.
// DE1. The relay is trusted with nothing: everything goes through a channel (wire/noise) that only the home can open.
//      The relay's own words, close codes among them, change what is shown and nothing else.
// DE2. The device's private key cannot be read. A key that is being paired is stored before it is used, so that a page
//      that was closed meanwhile tries again as the same device.
// DE3. The pairing link leaves the address once it was used, or is of no use.
// DE4. A device that its home has signed out forgets its key and its token. An unauthenticated refusal is shown, and
//      forgets nothing, and neither does a link that pairs nothing.
// DE5. A connection that is silent for too long is given up: phones sleep, and change networks without a word.
// DE6. Nothing is done inside of a frame: a header forbids it, and whoever serves an exported page may not send one.
import type { Result } from "../../base/result.ts";
import { MAX_ANSWER } from "../../wire/lines.ts";
import { Channel, type ChannelEnd } from "../../wire/noise/channel.ts";
import type { Bytes, NoiseKey } from "../../wire/noise/crypto.ts";
import type { ChannelClose } from "../../wire/noise/pieces.ts";
import { PAIR_LINK, type Pairing, pairingPsk, tokenPsk } from "../../wire/noise/psk.ts";
import { WebNoise } from "../../wire/noise/web-crypto.ts";
import type { PageWire, PageWireEvents } from "../../wire/page/client.ts";
import { CLOSE, parseHostMessage, TUNNEL_PATH } from "../../wire/page/messages.ts";
import * as browser from "../browser.ts";
import type { Way } from "./session.ts";

/** Names in the vault: the device that is paired, and a key that is being paired (DE2). */
const [DEVICE, PAIRING] = ["device", "pairing"];
/** Close codes of WebSockets: the page is gone, and a connection that was cut. */
const GONE = 1001;
const CUT = 1006;

/** DE5. Every so often the home is asked; what says nothing until the next time is gone. */
const BEAT_MS = 10_000;

const TROUBLE = {
  framed: "This page is shown inside of another one, which could mislead you: open it in a tab of its own.",
  insecure:
    "This page was not loaded over HTTPS, so the browser offers no encryption: open it by its https:// address.",
  old: "This browser is too old for the encryption that this page needs.",
  noVault: "This browser keeps nothing for this page (a private window may not), so it cannot be paired.",
  unpaired: "This device is not paired.",
  noLink: "This is not a whole pairing link.",
  wrongLink: "This pairing link was used already, is too old, or is wrong.",
  refused: "The home did not accept this device: it was signed out, or was not used for long.",
  stranger: "What answers here is not the home that this device is paired with.",
};

/** A key pair as a browser stores it, and the home's public key. */
type Stored = { readonly keys: CryptoKeyPair; readonly home: Bytes };
type StoredDevice = Stored & { readonly token: string };
type StoredPairing = Stored & { readonly secret: Bytes };

/** What is needed of the browser. */
export type DeviceDoors = Pick<
  typeof browser,
  "address" | "connect" | "cryptography" | "every" | "isFramed" | "keepInVault" | "readVault"
>;

/** How to reach the home, or why that is not possible. */
export async function findWay(doors: DeviceDoors = browser): Promise<Result<Way, string>> {
  if (doors.isFramed()) return { ok: false, error: TROUBLE.framed }; // DE6
  const subtle = doors.cryptography();
  if (subtle === undefined) return { ok: false, error: TROUBLE.insecure };
  if (!("fromBase64" in Uint8Array)) return { ok: false, error: TROUBLE.old };
  try {
    return await wayWith(new WebNoise(subtle), doors);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return { ok: false, error: error.name === "NotSupportedError" ? TROUBLE.old : TROUBLE.noVault };
  }
}

async function wayWith(noise: WebNoise, doors: DeviceDoors): Promise<Result<Way, string>> {
  const { address, readVault } = doors;
  address.whenChanged(() => {
    if (address.named(PAIR_LINK.name) !== null) address.reload();
  });
  const link = address.named(PAIR_LINK.name);
  const pairing = link === null ? undefined : PAIR_LINK.read(link);
  if (pairing !== undefined) return { ok: true, value: await pairingWay(noise, doors, pairing) };
  if (link !== null) address.forget();
  const device = await readVault(DEVICE);
  if (!isDevice(device)) return { ok: false, error: link === null ? TROUBLE.unpaired : TROUBLE.noLink };
  const made = { key: await noise.keyOf(device.keys), home: device.home, psk: await tokenPsk(noise, device.token) };
  return { ok: true, value: new RemoteWay(noise, doors, { kind: "paired", ...made, token: device.token }) };
}

/** DE2 */
async function pairingWay(noise: WebNoise, doors: DeviceDoors, { secret, home }: Pairing): Promise<Way> {
  const before = await doors.readVault(PAIRING);
  const isSame = isPairing(before) && before.secret.toHex() === secret.toHex();
  const keys = isSame ? before.keys : await noise.newPair();
  await doors.keepInVault(PAIRING, { keys, home, secret } satisfies StoredPairing);
  const made = { key: await noise.keyOf(keys), home, psk: await pairingPsk(noise, secret) };
  return new RemoteWay(noise, doors, { kind: "pairing", ...made, keys });
}

type Side = { readonly key: NoiseKey; readonly home: Bytes; readonly psk: Bytes };
type State =
  | (Side & { readonly kind: "pairing"; readonly keys: CryptoKeyPair })
  | (Side & { readonly kind: "paired"; readonly token: string });

class RemoteWay implements Way {
  readonly #noise: WebNoise;
  readonly #doors: DeviceDoors;
  #state: State;

  constructor(noise: WebNoise, doors: DeviceDoors, state: State) {
    this.#noise = noise;
    this.#doors = doors;
    this.#state = state;
  }

  token = (): string => (this.#state.kind === "paired" ? this.#state.token : "");

  connect = (events: PageWireEvents): PageWire => {
    let channel: Channel | undefined;
    let code = CUT;
    let isHeard = false;
    const closed = (end: ChannelEnd) => {
      stopLooking();
      this.#closed(end, code, events);
    };
    const socket = this.#doors.connect(TUNNEL_PATH, {
      opened: () => {
        channel = this.#open(socket, events, closed);
      },
      text: () => socket.close(),
      bytes: (bytes) => {
        isHeard = true;
        void channel?.receive(bytes);
      },
      closed: (said) => {
        code = said;
        if (channel === undefined) closed({ kind: "lost" });
        else channel.lost();
      },
    });
    const stopLooking = this.#doors.every(BEAT_MS, () => {
      if (isHeard) channel?.ping();
      else giveUp();
      isHeard = false;
    });
    /** DE5. Of a dead network, the browser says so much later. */
    const giveUp = () => {
      socket.close();
      closed({ kind: "lost" });
    };
    return { send: (message) => channel?.send(message), close: () => channel?.close(GONE, "") };
  };

  #open(socket: PageWire, events: PageWireEvents, closed: (end: ChannelEnd) => void): Channel {
    const ports = { crypto: this.#noise, send: socket.send, close: socket.close, most: MAX_ANSWER };
    return Channel.initiate(ports, this.#state, {
      open: () => {
        if (this.#state.kind === "paired") events.opened();
      },
      message: (message) => this.#take(message, events),
      closed,
    });
  }

  #take(message: string | Bytes, events: PageWireEvents): void {
    const isFirst = this.#state.kind === "pairing" && typeof message === "string";
    const paired = isFirst ? parseHostMessage(message) : undefined;
    if (paired?.type === "paired") void this.#paired(paired.token, events);
    else if (typeof message === "string") events.text(message);
    else events.bytes(message);
  }

  /** Stored first: a device that says hello has kept its token. */
  async #paired(token: string, events: PageWireEvents): Promise<void> {
    const state = this.#state;
    if (state.kind !== "pairing") return;
    const { address, keepInVault } = this.#doors;
    await keepInVault(DEVICE, { keys: state.keys, home: state.home, token } satisfies StoredDevice);
    await keepInVault(PAIRING, undefined);
    this.#state = { kind: "paired", key: state.key, home: state.home, psk: await tokenPsk(this.#noise, token), token };
    address.forget(); // DE3
    events.opened();
  }

  /** DE1. `code`: what the WebSocket said, and so the relay. */
  #closed(end: ChannelEnd, code: number, events: PageWireEvents): void {
    const isHint = code === CLOSE.noHome || code === CLOSE.tooMany;
    if (end.kind === "closed") void this.#closedByHome(end, events);
    else if (end.kind === "stranger") events.closed(CLOSE.signedOut, TROUBLE.stranger);
    else if (end.kind === "refused") this.#refused(events);
    else events.closed(isHint ? code : CUT, "");
  }

  /** DE4 */
  async #closedByHome({ code, reason }: ChannelClose, events: PageWireEvents): Promise<void> {
    const isOut = code === CLOSE.signedOut;
    if (isOut && this.#state.kind === "paired") await this.#doors.keepInVault(DEVICE, undefined);
    if (isOut && this.#state.kind === "pairing") this.#doors.address.forget(); // DE3
    events.closed(code, reason);
  }

  #refused(events: PageWireEvents): void {
    const isPairing = this.#state.kind === "pairing";
    if (isPairing) this.#doors.address.forget(); // DE3
    events.closed(CLOSE.signedOut, isPairing ? TROUBLE.wrongLink : TROUBLE.refused);
  }
}

function isStored(value: unknown): value is Stored & Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || !("keys" in value) || !("home" in value)) return false;
  return typeof value.keys === "object" && value.home instanceof Uint8Array;
}

function isDevice(value: unknown): value is StoredDevice {
  return isStored(value) && typeof value["token"] === "string";
}

function isPairing(value: unknown): value is StoredPairing {
  return isStored(value) && value["secret"] instanceof Uint8Array;
}
