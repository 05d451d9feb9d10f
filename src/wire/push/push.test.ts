// The cryptography of Web Push against the vectors of RFC 8291 and RFC 8292, and against node's. The values were
// compared with published ones: other implementations have the same in their tests.
import { expect, test } from "bun:test";
import { Receiver, sender } from "../../../tests/notify/push-reader.ts";
import { MAX_PLAIN, sealed } from "./encryption.ts";
import { agreeing, fromBase64, isPoint, newSigningKey, signing, toBase64, utf8 } from "./p256.ts";
import { vapid } from "./vapid.ts";

const { subtle } = crypto;

/** RFC 8291, section 5 and appendix A. */
const RFC8291 = {
  plain: "V2hlbiBJIGdyb3cgdXAsIEkgd2FudCB0byBiZSBhIHdhdGVybWVsb24",
  senderPublic: "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
  senderPrivate: "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
  receiverPublic: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  receiverPrivate: "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
  salt: "DGv6ra1nlYgDCS1FRnbzlw",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
  message:
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7" +
    "A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
};

/** RFC 8292, section 2.4. */
const RFC8292 = {
  token:
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6" +
    "Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9Ok" +
    "SSHzvoD1oA",
  key: "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs",
};

const receiver = new Receiver(RFC8291.receiverPrivate, RFC8291.auth);
const to = { publicKey: fromBase64(RFC8291.receiverPublic), auth: fromBase64(RFC8291.auth) };

function senderKey() {
  const point = fromBase64(RFC8291.senderPublic);
  const [x, y] = [point.slice(1, 33), point.slice(33)].map(toBase64);
  return agreeing(subtle, { x: x ?? "", y: y ?? "", d: RFC8291.senderPrivate });
}

test("what is sealed with the keys and the salt of RFC 8291 is its message, but for the padding", async () => {
  expect(receiver.open(Buffer.from(RFC8291.message, "base64url")).toString("base64url")).toBe(RFC8291.plain);
  const once = { key: await senderKey(), salt: fromBase64(RFC8291.salt) };
  const body = (await sealed(subtle, once, to, fromBase64(RFC8291.plain))) ?? new Uint8Array();
  // GCM encrypts byte by byte: up to the padding, of which the vector has none, the two are the same.
  const same = 86 + fromBase64(RFC8291.plain).length + 1;
  expect(toBase64(body.slice(0, same))).toBe(toBase64(fromBase64(RFC8291.message).slice(0, same)));
});

test("PE2 messages of all lengths are read by their receiver alone, and show little of their length", async () => {
  const lengths = new Set<number>();
  for (const length of [0, 1, 511, 512, 513, 3_000, MAX_PLAIN]) {
    const once = { key: await agreeing(subtle), salt: crypto.getRandomValues(new Uint8Array(16)) };
    const plain = new Uint8Array(length).fill(7);
    const body = Buffer.from((await sealed(subtle, once, to, plain)) ?? []);
    lengths.add(body.length);
    expect(receiver.open(body)).toEqual(Buffer.from(plain));
    expect(() => new Receiver().open(body)).toThrow();
    body[body.length - 1] = (body.at(-1) ?? 0) ^ 1;
    expect(() => receiver.open(body)).toThrow();
  }
  expect(lengths.size).toBe(5);
});

test("a key that is no point of the curve encrypts nothing", async () => {
  const bad = new Uint8Array(65).fill(9);
  expect(await isPoint(subtle, bad)).toBe(false);
  expect(await isPoint(subtle, new Uint8Array(3))).toBe(false);
  expect(await isPoint(subtle, to.publicKey)).toBe(true);
  const once = { key: await senderKey(), salt: fromBase64(RFC8291.salt) };
  expect(await sealed(subtle, once, { ...to, publicKey: bad }, utf8("x"))).toBeUndefined();
});

test("the token of RFC 8292 is verified as ours are, and ours name the push service and end within a day", async () => {
  expect(sender(`vapid t=${RFC8292.token}, k=${RFC8292.key}`).claims).toEqual({
    aud: "https://push.example.net",
    exp: 1453523768,
    sub: "mailto:push@example.com",
  });
  const key = await signing(subtle, await newSigningKey(subtle));
  const now = Date.parse("2026-11-18T00:00:00Z");
  const header = await vapid(key, "https://push.example.net:8443/p/1?x", "https://example.com", now);
  const { claims, key: shown } = sender(header);
  expect(fromBase64(shown)).toEqual(key.publicKey);
  expect(claims).toEqual({
    aud: "https://push.example.net:8443",
    exp: now / 1000 + 12 * 3600,
    sub: "https://example.com",
  });
  expect(() => sender(header.replace(/k=.*/, `k=${RFC8292.key}`))).toThrow();
});
