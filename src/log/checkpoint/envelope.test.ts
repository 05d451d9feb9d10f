// Tests of the envelope: every byte counts, jq can read it, and a newer version is not mistaken for damage.
import { describe, expect, test } from "bun:test";
import { SimRandom } from "../../../tests/sim/random.ts";
import { sha256 } from "../../world/hash.ts";
import { encodeEnvelope, readEnvelope } from "./envelope.ts";

const FACTS = { kind: "terminals", version: 3, fold: 2 };
const TIME = "2026-01-01T00:00:00.000Z";
const BODY = { sessions: [{ id: "a", text: 'quotes " and ünïcödé 😀 \u2028' }], sha256: '"sha256":"no"' };
const encode = (facts = FACTS) => encodeEnvelope({ ...facts, seq: 7, time: TIME }, JSON.stringify(BODY));
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test("TC-2(a) what was written is read back, and reading does not change the bytes", () => {
  const { bytes, head } = encode();
  const copy = bytes.slice();
  expect(readEnvelope(bytes, FACTS)).toEqual({ kind: "whole", head, body: BODY });
  expect(Buffer.compare(bytes, copy)).toBe(0);
});

test("TC-2(a) it is one JSON document, with its fields in a fixed order and a final newline", () => {
  const document = text(encode().bytes);
  expect(document.endsWith("}\n")).toBe(true);
  expect(Object.keys(JSON.parse(document))).toEqual(["kind", "version", "fold", "seq", "time", "sha256", "body"]);
  expect(JSON.parse(document).body).toEqual(BODY);
});

test("TC-2(a) the hash is that of the file without the hash field, so that sed and sha256sum can check it", () => {
  const { bytes, head } = encode();
  expect(sha256(text(bytes).replace(/"sha256":"[0-9a-f]*",/, ""))).toBe(head.sha256);
});

test("UC-1(a) TC-1(a) a kind with names of its own has the fields of its body in place, under the same hash", () => {
  for (const names of [
    { time: "timestamp", hash: "checksum" },
    { time: "created_at", hash: "integrity_hash" },
  ] as const) {
    const { bytes, head } = encodeEnvelope({ ...FACTS, names, seq: 7, time: TIME }, JSON.stringify(BODY));
    const file = JSON.parse(text(bytes));
    expect(file).toEqual({ ...FACTS, seq: 7, [names.time]: TIME, [names.hash]: head.sha256, ...BODY });
    expect(sha256(text(bytes).replace(`"${names.hash}":"${head.sha256}",`, ""))).toBe(head.sha256);
    expect(readEnvelope(bytes, FACTS)).toEqual({ kind: "whole", head, body: BODY });
    const mixed = Buffer.from(text(bytes).replace(names.time, "time"));
    expect(readEnvelope(mixed, FACTS).kind).toBe("bad");
  }
});

test("TC-6(b) a flipped bit anywhere is detected as damage: no head, body or hash is outside the hash", () => {
  const { bytes } = encode();
  for (let at = 0; at < bytes.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const rotten = bytes.slice();
      rotten[at] = (rotten[at] ?? 0) ^ (1 << bit);
      expect(readEnvelope(rotten, FACTS).kind).toBe("bad");
    }
  }
});

test("TC-6(b) a file truncated at any byte is bad, and so is one with extra bytes", () => {
  const { bytes } = encode();
  for (let length = 0; length < bytes.length; length += 1) {
    expect(readEnvelope(bytes.slice(0, length), FACTS).kind).toBe("bad");
  }
  for (const more of ["\n", "}\n", " ", "\0"]) {
    expect(readEnvelope(Buffer.concat([bytes, Buffer.from(more)]), FACTS).kind).toBe("bad");
  }
});

test("TC-6(b) garbage never throws", () => {
  const random = new SimRandom(7);
  for (let i = 0; i < 500; i += 1) expect(readEnvelope(random.bytes(random.int(400)), FACTS).kind).toBe("bad");
  for (const odd of [
    "null",
    "[]",
    "{}",
    '"x"',
    "1e999",
    '{"kind":"terminals"}',
    '{"kind":"terminals","version":"9"}',
  ]) {
    expect(readEnvelope(Buffer.from(odd), FACTS).kind).toBe("bad");
  }
});

describe("TC-6(c) a newer version", () => {
  test("is distinguished from damage, with its number", () => {
    expect(readEnvelope(encode({ ...FACTS, version: 4 }).bytes, FACTS)).toEqual({ kind: "newer", version: 4 });
  });

  test("is recognised in an unknown form of envelope", () => {
    const future = Buffer.from(JSON.stringify({ kind: "terminals", version: 9, checksum: "blake3:…", payload: [] }));
    expect(readEnvelope(future, FACTS)).toEqual({ kind: "newer", version: 9 });
    expect(readEnvelope(future, { ...FACTS, kind: "workflow" }).kind).toBe("bad");
  });
});

test("each kind of damage has its code", () => {
  const code = (bytes: Uint8Array) => {
    const reading = readEnvelope(bytes, FACTS);
    return reading.kind === "bad" ? reading.code : reading.kind;
  };
  const { bytes } = encode();
  expect(code(new Uint8Array(0))).toBe("empty");
  expect(code(Buffer.from("{}"))).toBe("garbage");
  expect(code(Buffer.from(text(bytes).replace("ünï", "uni")))).toBe("bad-hash");
  expect(code(encode({ ...FACTS, kind: "workflow" }).bytes)).toBe("wrong-kind");
  expect(code(encodeEnvelope({ ...FACTS, seq: 1, time: TIME }, "").bytes)).toBe("garbage");
});

test("with names for time and hash, the fields of the body are in place, and every flipped bit is noticed", () => {
  const facts = { kind: "flat", version: 2, fold: 1, names: { time: "timestamp", hash: "checksum" } } as const;
  const { bytes, head } = encodeEnvelope({ ...facts, seq: 7, time: "2026-01-02T03:04:05.678Z" }, '{"sessions":["ä"]}');
  const text = Buffer.from(bytes).toString();
  expect(JSON.parse(text)).toEqual({
    ...{ kind: "flat", version: 2, fold: 1, seq: 7, timestamp: "2026-01-02T03:04:05.678Z" },
    ...{ checksum: head.sha256, sessions: ["ä"] },
  });
  expect(sha256(Buffer.from(text.replace(/"checksum":"[0-9a-f]*",/, "")))).toBe(head.sha256); // E1, by hand.
  expect(readEnvelope(new Uint8Array(bytes), facts)).toEqual({ kind: "whole", head, body: { sessions: ["ä"] } });
  for (let at = 0; at < bytes.length; at += 1) {
    const harmed = new Uint8Array(bytes);
    harmed[at] = (harmed[at] ?? 0) ^ 1;
    expect(readEnvelope(harmed, facts).kind).toBe("bad");
  }
});
