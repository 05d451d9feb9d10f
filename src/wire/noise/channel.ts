// A channel between a device and its home through a relay that neither trusts: messages in order, whole, secret and
// authentic, over a stream of bytes in any pieces. Each Noise message is preceded by its length (u16, big-endian).
// CH1. `open` comes after the other side has proved its static key: for a device the one it knows, for the home one
//      that has a pre-shared key, and knows it. A device sends nothing of its own to anyone else.
// CH2. A message that is changed, cut, left out, repeated or out of order closes the channel; nothing after it is
//      delivered, and nothing of another session is accepted.
// CH3. A closed stream without the last piece (pieces.ts) is `lost`: the relay, or the net, has cut it.
// CH4. `refused` is a hint of whoever answers: an empty Noise message instead of the first one. It is not authentic,
//      since both sides have no key in common; so nothing may be forgotten because of it.
// CH5. What arrives and is not read yet is limited. Time is not: the owner closes a channel that does not open.
import { ByteQueue } from "../../base/byte-queue.ts";
import { type Bytes, joined, type NoiseCrypto, type NoiseKey } from "./crypto.ts";
import { Handshake, type PskOf } from "./handshake.ts";
import { type ChannelClose, endPiece, MAX_NOISE, PING, PieceReader, PONG, piecesOf, type Whole } from "./pieces.ts";
import type { CipherState } from "./symmetric.ts";

const PROLOGUE = new TextEncoder().encode("holdfast tunnel 1");
const NO_PAYLOAD = new Uint8Array(0);
const LENGTH_BYTES = 2;
/** Encrypted or decrypted at the same time: WebCrypto works on other threads. */
const AT_ONCE = 16;

export type ChannelPorts = {
  readonly crypto: NoiseCrypto;
  /** To the other side's `receive`. */
  send(bytes: Bytes): void;
  /** Closes the stream after what was sent. */
  close(): void;
  /** The longest message that is accepted. */
  readonly most: number;
  /** Noise messages each way; `MAX_MESSAGES` if absent. */
  readonly mostMessages?: number;
};

export type ChannelEnd =
  /** By the other side, with these words. */
  | ({ readonly kind: "closed" } & ChannelClose)
  /** CH3 */
  | { readonly kind: "lost" }
  /** CH2, or the other side broke the protocol or a limit. */
  | { readonly kind: "broken"; readonly why: string }
  /** CH4: the home knows neither this device nor this secret. To the home: the device showed neither. */
  | { readonly kind: "refused" }
  /** CH1: it answered with another static key. */
  | { readonly kind: "stranger" };

export type ChannelEvents = {
  /** `psk`: which of the candidates the device knows; 0 on the device. */
  open(peer: Bytes, psk: number): void;
  message(message: string | Bytes): void;
  /** Called once, unless the owner has closed it. */
  closed(end: ChannelEnd): void;
};

export type Initiator = {
  readonly key: NoiseKey;
  /** The home's public key. */
  readonly home: Bytes;
  readonly psk: Bytes;
};
export type Responder = { readonly key: NoiseKey; readonly pskOf: PskOf };

type Keys = { readonly out: CipherState; readonly in: CipherState };

export class Channel {
  readonly #ports: ChannelPorts;
  readonly #events: ChannelEvents;
  readonly #side: Initiator | Responder;
  readonly #arrived = new ByteQueue();
  readonly #pieces: PieceReader;
  readonly #handshake: Promise<Handshake>;
  /** `closing`: by us; what was sent before is still on its way. */
  #state: "live" | "closing" | "over" = "live";
  /** Once it is open. */
  #keys: Keys | undefined;
  /** A message has come that only the other side can have sent (CH4). */
  #isConfirmed = false;
  #toSend: Bytes[] = [];
  #waiting = 0;
  #reading: Promise<void>;
  #writing: Promise<void> = Promise.resolve();

  private constructor(ports: ChannelPorts, side: Initiator | Responder, events: ChannelEvents) {
    this.#ports = ports;
    this.#side = side;
    this.#events = events;
    this.#pieces = new PieceReader(ports.most);
    const isInitiator = "home" in side;
    this.#handshake = Handshake.start({ crypto: ports.crypto, key: side.key, prologue: PROLOGUE, isInitiator });
    this.#reading = isInitiator ? this.#greet() : Promise.resolve();
  }

  /** The device's side; the stream is open. */
  static initiate(ports: ChannelPorts, side: Initiator, events: ChannelEvents): Channel {
    return new Channel(ports, side, events);
  }

  /** The home's side. */
  static respond(ports: ChannelPorts, side: Responder, events: ChannelEvents): Channel {
    return new Channel(ports, side, events);
  }

  /** Bytes of messages that are not encrypted yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Before `open` and after the end, nothing is sent. */
  send(message: string | Uint8Array): void {
    this.#sendPieces(piecesOf(message));
  }

  /** The other side answers at once, so that silence tells a lost connection from a quiet one. */
  ping(): void {
    this.#sendPieces([PING]);
  }

  #sendPieces(pieces: Iterable<Bytes>): void {
    if (this.#state !== "live" || this.#keys === undefined) return;
    for (const piece of pieces) this.#queue(piece);
    this.#writing = this.#writing.then(() => this.#write());
  }

  /** Tells the other side why, after everything that was sent. */
  close(code: number, reason: string): void {
    if (this.#state !== "live") return;
    this.#state = "closing";
    if (this.#keys !== undefined) this.#queue(endPiece({ code, reason }));
    this.#writing = this.#writing.then(() => this.#write()).then(() => this.#ports.close());
  }

  /**
   * Bytes of the stream. Resolves when they have been read, so that the owner can pause a fast sender; rejects with
   * what the owner's own functions throw.
   */
  receive(bytes: Uint8Array): Promise<void> {
    if (this.#state !== "live") return this.#reading;
    this.#arrived.push(bytes);
    if (this.#arrived.length > 2 * (this.#ports.most + MAX_NOISE)) this.#end(broken("Too much arrived at once.")); // CH5
    this.#reading = this.#reading.then(() => this.#read());
    return this.#reading;
  }

  /** The stream is closed. What has arrived is read first. */
  lost(): void {
    this.#reading = this.#reading.then(() => this.#end({ kind: "lost" })); // CH3
  }

  async #read(): Promise<void> {
    while (this.#state === "live") {
      const isOpen = this.#keys !== undefined;
      const frames = this.#frames(isOpen ? AT_ONCE : 1);
      if (frames.length === 0) return;
      if (isOpen) await this.#take(frames);
      else for (const frame of frames) await this.#shake(await this.#handshake, frame);
    }
  }

  /** The Noise messages that are complete, at most so many. */
  #frames(most: number): Bytes[] {
    const frames: Bytes[] = [];
    while (frames.length < most && this.#arrived.length >= LENGTH_BYTES) {
      const view = this.#arrived.view();
      const end = LENGTH_BYTES + new DataView(view.buffer, view.byteOffset).getUint16(0);
      if (view.length < end) break;
      frames.push(view.slice(LENGTH_BYTES, end));
      this.#arrived.drop(end);
    }
    return frames;
  }

  async #greet(): Promise<void> {
    const first = await (await this.#handshake).write(NO_PAYLOAD);
    if (first !== undefined) this.#sendFrames([first]);
  }

  async #shake(handshake: Handshake, frame: Bytes): Promise<void> {
    const side = this.#side;
    if ("home" in side) await this.#meetHome(handshake, frame, side);
    else if (handshake.isFresh) await this.#answer(handshake, frame);
    else await this.#admit(handshake, frame, side);
  }

  /** The device reads the second message, and sends the third. */
  async #meetHome(handshake: Handshake, frame: Bytes, { home, psk }: Initiator): Promise<void> {
    const read = await handshake.read(frame);
    if (read === undefined) return this.#end(broken(NOT_AUTHENTIC));
    if (!isSame(handshake.peer, home)) return this.#end({ kind: "stranger" }); // CH1
    const third = await handshake.write(NO_PAYLOAD, psk);
    if (third === undefined) return this.#end(broken(NOT_AUTHENTIC));
    await this.#opened(handshake, 0, third);
  }

  /** The home reads the first message, and sends the second. */
  async #answer(handshake: Handshake, frame: Bytes): Promise<void> {
    const read = await handshake.read(frame);
    const second = read && (await handshake.write(NO_PAYLOAD));
    if (second === undefined) this.#end(broken(NOT_AUTHENTIC));
    else this.#sendFrames([second]);
  }

  /** The home reads the third message. */
  async #admit(handshake: Handshake, frame: Bytes, { pskOf }: Responder): Promise<void> {
    const read = await handshake.read(frame, pskOf);
    if (read !== undefined) return await this.#opened(handshake, read.psk);
    this.#sendFrames([NO_PAYLOAD]); // CH4
    this.#end({ kind: "refused" });
  }

  async #opened(handshake: Handshake, psk: number, last?: Bytes): Promise<void> {
    const keys = await handshake.split(this.#ports.mostMessages);
    if (this.#state !== "live" || handshake.peer === undefined) return;
    if (last !== undefined) this.#sendFrames([last]);
    this.#keys = keys;
    this.#events.open(handshake.peer, psk);
  }

  /** CH2. All are decrypted at once, and delivered in their order. */
  async #take(frames: readonly Bytes[]): Promise<void> {
    const isRefusal = frames[0]?.length === 0 && !this.#isConfirmed && "home" in this.#side;
    if (isRefusal) return this.#end({ kind: "refused" }); // CH4
    const pieces = await Promise.all(frames.map((frame) => this.#keys?.in.unseal(frame)));
    for (const piece of pieces) {
      if (this.#state !== "live") return;
      if (piece === undefined) return this.#end(broken(NOT_AUTHENTIC));
      this.#isConfirmed = true;
      this.#deliver(this.#pieces.push(piece));
    }
  }

  #deliver(whole: Whole | undefined): void {
    if (whole === undefined) this.#end(broken("The other side broke the protocol or a limit."));
    else if (whole.kind === "message") this.#events.message(whole.message);
    else if (whole.kind === "ping") this.#sendPieces([PONG]);
    else if (whole.kind === "end") this.#end({ kind: "closed", ...whole.end });
  }

  #queue(piece: Bytes): void {
    this.#toSend.push(piece);
    this.#waiting += piece.length;
  }

  async #write(): Promise<void> {
    while (this.#toSend.length > 0) {
      const pieces = this.#toSend.splice(0, AT_ONCE);
      const sealed = await Promise.all(pieces.map((piece) => this.#keys?.out.seal(piece)));
      if (this.#state === "over") return;
      for (const { length } of pieces) this.#waiting -= length;
      this.#sendFrames(sealed.filter((one) => one !== undefined));
      if (sealed.includes(undefined)) return this.#end(broken("This connection was used for too long.")); // SY1
    }
  }

  #sendFrames(messages: readonly Bytes[]): void {
    if (this.#state === "over") return;
    const frames = messages.flatMap((one) => [Uint8Array.of(one.length >> 8, one.length), one]);
    if (frames.length > 0) this.#ports.send(joined(...frames));
  }

  #end(end: ChannelEnd): void {
    const wasLive = this.#state === "live";
    this.#state = "over";
    this.#toSend = [];
    if (!wasLive) return;
    this.#ports.close();
    this.#events.closed(end);
  }
}

const NOT_AUTHENTIC = "What arrived was not sent by the other side.";

function broken(why: string): ChannelEnd {
  return { kind: "broken", why };
}

/** Of public keys. */
function isSame(one: Bytes | undefined, other: Bytes): boolean {
  return one?.length === other.length && one.every((byte, at) => byte === other[at]);
}
