// What comes through a relay: the control stream of a tunnel, and the channel between a device and its home, attacked
// by the relay (bytes of the stream) and by a device that is paired (pieces inside of it).
import { Channel, type ChannelEnd } from "../../../../src/wire/noise/channel.ts";
import { type Bytes, joined, type NoiseCrypto, type NoiseKey } from "../../../../src/wire/noise/crypto.ts";
import { endPiece, PieceReader, piecesOf } from "../../../../src/wire/noise/pieces.ts";
import { PAIR_LINK } from "../../../../src/wire/noise/psk.ts";
import { fromHome, fromRelay } from "../../../../src/wire/tunnel/control.ts";
import { DEVICE, HOME, PSK, web } from "../../../tunnel/channels.ts";
import { type Border, recorded } from "./border.ts";
import { CONTROLS } from "./seeds.ts";

const CONTROL: Border = {
  name: "the control stream of a tunnel",
  inputs: 2,
  meet: (attacker) => {
    const lines = [attacker.line(attacker.oneOf(CONTROLS)), attacker.line(attacker.oneOf(CONTROLS))];
    const bytes = joined(...lines.flatMap((line) => [line, Uint8Array.of(10)]));
    for (const reader of [fromRelay(), fromHome()])
      for (const piece of attacker.pieces(bytes)) recorded(reader.push(piece) ?? null);
  },
};

const MOST = 1_000;

const PIECES: Border = {
  name: "a piece of a paired device, and a pairing link",
  inputs: 2,
  meet: (attacker) => {
    const reader = new PieceReader(MOST);
    const valid = [...piecesOf("text"), ...piecesOf(Uint8Array.of(1, 2)), endPiece({ code: 4401, reason: "why" })];
    const parts = [Uint8Array.of(0, 65), Uint8Array.of(2, 1)];
    for (let at = 0; at < 8; at += 1) {
      const whole = reader.push(new Uint8Array(attacker.bytes(attacker.oneOf([...valid, ...parts]))));
      if (whole?.kind === "message" && whole.message.length > MOST) throw new Error("a message over the limit");
      recorded(whole ?? null);
    }
    recorded(PAIR_LINK.read(Buffer.from(attacker.bytes(Buffer.from(LINK))).toString()) ?? null);
  },
};
const LINK = PAIR_LINK.write({ secret: new Uint8Array(16), home: HOME.publicKey });

/** The same keys in each handshake, so that the same seed makes the same bytes. */
function known(ephemeral: NoiseKey): NoiseCrypto {
  const { cipher, sha256, hmac } = web;
  return {
    newKey: async () => ephemeral,
    cipher: cipher.bind(web),
    sha256: sha256.bind(web),
    hmac: hmac.bind(web),
  };
}

/** The bytes of the device's two messages, with their lengths. */
const HANDSHAKE = 2 + 48 + 2 + 64;
const SAID = ["allow", "x".repeat(70_000), "deny"];

/** A home that hears what it is given; `answer` gets what it sends. */
class Hearing {
  readonly heard: (string | Bytes)[] = [];
  readonly ends: ChannelEnd[] = [];
  readonly channel: Channel;

  constructor(answer: (bytes: Bytes) => void) {
    const ports = { crypto: known(HOME), send: answer, close: () => undefined, most: 1 << 17 };
    this.channel = Channel.respond(
      ports,
      { key: HOME, pskOf: () => [PSK] },
      {
        open: () => undefined,
        message: (message) => this.heard.push(message),
        closed: (end) => this.ends.push(end),
      },
    );
  }
}

/** What a device says in a whole session. With known keys it is the same for every home. */
async function session(): Promise<Bytes> {
  const sent: Bytes[] = [];
  const { promise: isOver, resolve: close } = Promise.withResolvers<void>();
  const home = new Hearing((bytes) => void device.receive(bytes));
  const send = (bytes: Bytes) => {
    sent.push(bytes);
    void home.channel.receive(bytes);
  };
  const ports = { crypto: known(DEVICE), send, close, most: MOST };
  const device: Channel = Channel.initiate(
    ports,
    { key: DEVICE, home: HOME.publicKey, psk: PSK },
    {
      open: () => {
        for (const text of SAID) device.send(text);
        device.close(1001, "");
      },
      message: () => undefined,
      closed: () => undefined,
    },
  );
  await isOver;
  return joined(...sent);
}
let said: Promise<Bytes> | undefined;

const CHANNEL: Border = {
  name: "a channel through a hostile relay",
  inputs: 1,
  cost: 10,
  meet: async (attacker) => {
    said ??= session();
    const { channel, heard, ends } = new Hearing(() => undefined);
    const isWhole = attacker.oneOf([true, false, false, false]);
    const all = await said;
    const head = attacker.oneOf([HANDSHAKE, all.length]);
    const bytes = isWhole ? all : joined(attacker.bytes(all.subarray(0, head)), all.subarray(head));
    for (const piece of attacker.pieces(bytes)) await channel.receive(piece);
    channel.lost();
    await channel.receive(new Uint8Array(0));
    if (heard.some((message, at) => message !== SAID[at])) throw new Error("something was delivered that was not said");
    if (ends.length !== 1) throw new Error(`it ended ${ends.length} times`);
    const isGood = heard.length === SAID.length && ends[0]?.kind === "closed";
    if (isWhole && !isGood) throw new Error("an untouched session did not arrive");
    recorded(ends);
  },
};

export const TUNNEL_BORDERS: readonly Border[] = [CONTROL, PIECES, CHANNEL];
