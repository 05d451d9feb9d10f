import { expect, test } from "bun:test";
import fc from "fast-check";
import { Fields, FrameReader, frame, ProtocolError } from "./frames.ts";
import { columnsIn, noticeIn, rowIn } from "./messages.ts";

const LIMIT = 1_000;
const type = fc.constantFrom(..."RSKZ123CDEINTtnsA");
const body = fc.uint8Array({ maxLength: 200 });

test("frames come out as they went in, however the bytes are cut", () => {
  const sent = fc.array(fc.tuple(type, body), { maxLength: 20 });
  fc.assert(
    fc.property(sent, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (frames, cuts) => {
      const bytes = Buffer.concat(frames.map(([kind, content]) => frame(kind, content)));
      const reader = new FrameReader(LIMIT);
      const came: [string, Uint8Array][] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const end = at + (cuts[turn % cuts.length] ?? 1);
        for (const one of reader.push(bytes.subarray(at, end))) came.push([one.type, new Uint8Array(one.body)]);
        at = end;
      }
      expect(came).toEqual(frames);
    }),
  );
});

test("FR1 a length that is impossible or too long is refused as soon as it is known", () => {
  for (const length of [-1, 0, 3, LIMIT + 1, 0x7fffffff, -0x80000000]) {
    const head = Buffer.alloc(5);
    head.write("D");
    head.writeInt32BE(length, 1);
    expect(() => new FrameReader(LIMIT).push(head)).toThrow(ProtocolError);
  }
});

test("whatever bytes a server sends, they are read or refused, and nothing else happens", () => {
  const readers = [
    (bytes: Uint8Array) => new FrameReader(LIMIT).push(bytes),
    columnsIn,
    noticeIn,
    (bytes: Uint8Array) => rowIn(bytes, [true, false]),
    (bytes: Uint8Array) => new Fields(bytes).text(),
  ];
  fc.assert(
    fc.property(fc.constantFrom(...readers), fc.uint8Array({ maxLength: 300 }), (read, bytes) => {
      try {
        read(bytes);
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
      }
    }),
    { numRuns: 3_000 },
  );
});

test("a message cannot move a person's cursor, and is not endless", () => {
  const bytes = frame("N", "SWARNING", "VWARNING", "C01000", `M\u001b[2J${"x".repeat(10_000)}`, new Uint8Array(1));
  const { severity, sqlstate, message } = noticeIn(bytes.subarray(5));
  expect([severity, sqlstate]).toEqual(["WARNING", "01000"]);
  expect(message).toStartWith("\\u001b[2Jxxx");
  expect(message.length).toBeLessThanOrEqual(500);
});
