import { describe, expect, test } from "bun:test";
import { DEVICE, framed, HOME, type Meddle, MOST, Pair, PSK, web } from "../../../tests/tunnel/channels.ts";
import { PAIR_LINK, pairingPsk, tokenPsk } from "./psk.ts";

const WRONG = PSK.with(0, 4);

test("messages of every length and both kinds arrive in order, whatever the stream does to its pieces", async () => {
  const oneByOne: Meddle = (bytes, _, at) => (at < 3 ? [...bytes].map((byte) => Uint8Array.of(byte)) : [bytes]);
  const halves: Meddle = (bytes) => [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)];
  for (const meddle of [oneByOne, halves]) {
    const pair = await new Pair({ meddle }).opened();
    expect(pair.home.seen.opened).toEqual({ peer: DEVICE.publicKey.toHex(), psk: 0 });
    expect(pair.device.seen.opened?.peer).toBe(HOME.publicKey.toHex());
    const lengths = [0, 1, 100, 65_517, 65_518, 65_519, 131_037, MOST];
    const messages = lengths.flatMap((length) => ["é".repeat(length >> 1), new Uint8Array(length).fill(length)]);
    for (const message of messages) {
      pair.ofDevice.send(message);
      pair.ofHome.send(message);
      await pair.sent("home", 2);
    }
    expect(await pair.heard("home", messages.length)).toEqual(messages);
    expect(await pair.heard("device", messages.length)).toEqual(messages);
    expect([pair.ofDevice.waiting, pair.device.seen.ends, pair.home.seen.ends]).toEqual([0, [], []]);
  }
});

test("a ping is answered, also in the middle of a message, and is no message itself", async () => {
  const pair = await new Pair({}).opened();
  pair.ofDevice.ping();
  await pair.sent("home", 2);
  pair.ofHome.send("x".repeat(MOST));
  pair.ofHome.ping();
  pair.ofHome.send("y");
  expect(await pair.heard("device", 2)).toEqual(["x".repeat(MOST), "y"]);
  expect([pair.home.seen.messages, pair.home.seen.ends]).toEqual([[], []]);
});

test("a close comes after everything that was sent, with its code and its reason", async () => {
  const pair = await new Pair({}).opened();
  for (let at = 0; at < 100; at += 1) pair.ofHome.send(`${at}`);
  pair.ofHome.close(4401, "Signed out.");
  pair.ofHome.send("too late");
  expect(await pair.endOf("device")).toEqual({ kind: "closed", code: 4401, reason: "Signed out." });
  expect(pair.device.seen.messages).toEqual(Array.from({ length: 100 }, (_, at) => `${at}`));
  expect([pair.home.isClosed, pair.home.seen.ends]).toEqual([true, []]);
});

test("a stream that is cut is lost, not closed: what had arrived is delivered, and a half message is not", async () => {
  const pair = await new Pair({
    meddle: (bytes, from, at) => [from === "home" && at === 1 ? bytes.subarray(0, -1) : bytes],
  }).opened();
  pair.ofHome.send("never");
  await pair.sent("home", 2);
  pair.ofDevice.lost();
  expect(await pair.endOf("device")).toEqual({ kind: "lost" });
  expect(pair.device.seen.messages).toEqual([]);
});

describe("who is let in", () => {
  test("a device with the wrong pre-shared key, or an unknown one, is refused and learns only that", async () => {
    for (const options of [{ psk: WRONG }, { pskOf: () => [] }, { pskOf: () => [WRONG, WRONG] }]) {
      const pair = new Pair(options);
      expect(await pair.endOf("home")).toEqual({ kind: "refused" });
      expect(await pair.endOf("device")).toEqual({ kind: "refused" });
      expect([pair.home.seen.opened, pair.home.seen.messages]).toEqual([undefined, []]);
    }
  });

  test("of sixteen candidates the right one is found, and the home knows which", async () => {
    const pair = await new Pair({ pskOf: async () => [...Array(15).fill(WRONG), PSK] }).opened();
    expect(pair.home.seen.opened?.psk).toBe(15);
  });

  test("the home is asked for the pre-shared key by the device's own key", async () => {
    const asked: string[] = [];
    const pskOf = (peer: Uint8Array) => {
      asked.push(peer.toHex());
      return [PSK];
    };
    await new Pair({ pskOf }).opened();
    expect(asked).toEqual([DEVICE.publicKey.toHex()]);
  });

  test("a device that meets another home than its own says nothing, not even who it is", async () => {
    const pair = new Pair({ home: DEVICE });
    await pair.settled("device");
    expect(pair.device.seen).toMatchObject({ opened: undefined, ends: [{ kind: "stranger" }] });
    expect(pair.device.sent).toHaveLength(1);
  });

  test("an empty message refuses before the home has proved itself, and breaks the channel afterwards", async () => {
    const pair = await new Pair({}).opened();
    pair.ofHome.send("I am");
    await pair.heard("device", 1);
    void pair.ofDevice.receive(new Uint8Array(2));
    expect((await pair.endOf("device")).kind).toBe("broken");
    const other = await new Pair({}).opened();
    void other.ofHome.receive(new Uint8Array(2));
    expect((await other.endOf("home")).kind).toBe("broken");
  });
});

describe("a relay that meddles", () => {
  /** Sends three messages, of which the relay treats the second as told; returns what became of it. */
  async function outcome(second: (bytes: Uint8Array, first: Uint8Array) => readonly Uint8Array[]) {
    let first = new Uint8Array(0);
    const meddle: Meddle = (bytes, from, at) => {
      if (from === "home" && at === 1) first = bytes;
      return from === "home" && at === 2 ? second(bytes, first) : [bytes];
    };
    const pair = await new Pair({ meddle }).opened();
    for (const at of [1, 2, 3]) {
      pair.ofHome.send(`message ${at}`);
      await pair.sent("home", at + 1);
    }
    pair.ofHome.close(1000, "");
    const end = await pair.endOf("device");
    return [end.kind, ...pair.device.seen.messages, pair.device.isClosed];
  }
  const BROKEN = ["broken", "message 1", true];

  test("a flipped bit in any byte of a message closes the channel", async () => {
    const length = 1 + "message 2".length + 16;
    for (let at = 2; at < 2 + length; at += 1)
      expect(await outcome((bytes) => [bytes.with(at, (bytes[at] ?? 0) ^ (1 << (at & 7)))])).toEqual(BROKEN);
  });

  test("a message that is repeated, swapped, left out, cut or made up closes the channel", async () => {
    expect(await outcome((_, first) => [first])).toEqual(BROKEN);
    expect(await outcome((bytes) => [bytes.slice(0, 0)])).toEqual(BROKEN);
    expect(await outcome((bytes) => [framed(bytes.subarray(2, -1))])).toEqual(BROKEN);
    expect(await outcome(() => [framed(new Uint8Array(40))])).toEqual(BROKEN);
    expect(await outcome(() => [framed(new Uint8Array(15))])).toEqual(BROKEN);
    const twice = await outcome((bytes) => [bytes, bytes]);
    expect(twice).toEqual(["broken", "message 1", "message 2", true]);
  });

  test("what was recorded of one session opens no other one, for either side", async () => {
    const pair = await new Pair({}).opened();
    pair.ofDevice.send("allow");
    pair.ofHome.send("done");
    await pair.heard("home", 1);
    await pair.heard("device", 1);
    const replayed = (side: "device" | "home"): Meddle => {
      return (bytes, from, at) => (from === side ? [pair[side].sent[at] ?? bytes] : [bytes]);
    };
    const toHome = new Pair({ meddle: replayed("device") });
    expect((await toHome.endOf("home")).kind).toMatch(/refused|broken|lost/);
    expect(toHome.home.seen).toMatchObject({ opened: undefined, messages: [] });
    const toDevice = new Pair({ meddle: replayed("home") });
    expect((await toDevice.endOf("device")).kind).toBe("broken");
    expect(toDevice.device.seen).toMatchObject({ opened: undefined, messages: [] });
  });

  test("a message that is reflected to its sender closes the channel", async () => {
    const pair = await new Pair({}).opened();
    pair.ofDevice.send("allow");
    await pair.heard("home", 1);
    void pair.ofDevice.receive(pair.device.sent.at(-1) ?? PSK);
    expect((await pair.endOf("device")).kind).toBe("broken");
  });
});

describe("limits", () => {
  test("a message over the limit closes the channel, and none of it is delivered", async () => {
    const pair = await new Pair({}).opened();
    pair.ofDevice.send(new Uint8Array(MOST + 1));
    expect((await pair.endOf("home")).kind).toBe("broken");
    expect(pair.home.seen.messages).toEqual([]);
  });

  test("more than is read at a time closes the channel", async () => {
    const pair = await new Pair({}).opened();
    for (let sent = 0; sent < 3 * MOST; sent += 1 << 16) void pair.ofHome.receive(new Uint8Array(1 << 16).fill(255));
    expect((await pair.endOf("home")).kind).toBe("broken");
  });

  test("a key that has encrypted as much as it may ends the session, on both sides", async () => {
    const pair = await new Pair({ mostMessages: 3 }).opened();
    for (const text of ["a", "b", "c", "d"]) pair.ofDevice.send(text);
    expect(await pair.endOf("device")).toEqual({ kind: "broken", why: "This connection was used for too long." });
    expect(await pair.endOf("home")).toEqual({ kind: "lost" });
    expect(pair.home.seen.messages).toEqual(["a", "b", "c"]);
  });

  test("no end of a channel says anything of keys or messages", async () => {
    const pair = await new Pair({}).opened();
    void pair.ofHome.receive(framed(new TextEncoder().encode("a secret of mine, long enough")));
    const said = JSON.stringify(await pair.endOf("home"));
    for (const secret of ["secret", PSK.toHex(), DEVICE.publicKey.toHex()]) expect(said).not.toContain(secret);
  });
});

describe("pre-shared keys and links", () => {
  const link = { secret: new Uint8Array(16).fill(1), home: HOME.publicKey };

  test("a device's key is the hash that the home stores of its token; that of a link is another one", async () => {
    const hash = new Bun.CryptoHasher("sha256").update("token").digest("hex");
    expect((await tokenPsk(web, "token")).toHex()).toBe(hash);
    const bytes = new Bun.CryptoHasher("sha256").update("holdfast pair 1").update(link.secret).digest("hex");
    expect((await pairingPsk(web, link.secret)).toHex()).toBe(bytes);
  });

  test("a link is read as it was written, and anything else is none", () => {
    const text = PAIR_LINK.write(link);
    expect(text).toMatch(/^[\w-]{22}\.[\w-]{43}$/);
    expect(PAIR_LINK.read(text)).toEqual(link);
    for (const wrong of ["", ".", `${text}.`, text.slice(1), text.slice(0, -1), text.replace(".", "!"), `${text}!`])
      expect(PAIR_LINK.read(wrong)).toBeUndefined();
  });
});
