// Tests of the framing: however a stream is cut, the same frames come out of it.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { PROFILE } from "../../../tests/sim/fuzz/profile.ts";
import { encodeFrame, FrameReader, MAX_FRAME, type RawFrame } from "./frames.ts";

const plain = (frames: readonly RawFrame[]) =>
  frames.map(({ tag, payload }) => [tag, Buffer.from(payload).toString("hex")]);

describe("frames", () => {
  test("however a stream is cut, the same frames come out of it", () => {
    const frame = fc.tuple(fc.integer({ min: 1, max: 255 }), fc.uint8Array({ maxLength: 50 }));
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (frames, cuts) => {
        const stream = Buffer.concat(frames.map(([tag, payload]) => encodeFrame(tag, payload)));
        const reader = new FrameReader();
        const found: unknown[] = [];
        for (let at = 0, turn = 0; at < stream.length; turn += 1) {
          const length = cuts[turn % cuts.length] ?? 1;
          const scratch = new Uint8Array(stream.subarray(at, at + length));
          found.push(...plain(reader.push(scratch) ?? []));
          scratch.fill(0); // The reader keeps no reference to it.
          at += length;
        }
        expect(found).toEqual(plain(frames.map(([tag, payload]) => ({ tag, payload }))));
      }),
      { seed: PROFILE.seed },
    );
  });

  test("parts are joined to one payload", () => {
    const [frame] = new FrameReader().push(encodeFrame(9, Buffer.from("ab"), Buffer.from("c"))) ?? [];
    expect(plain(frame === undefined ? [] : [frame])).toEqual([[9, "616263"]]);
  });

  test("a length of nothing and one over the limit are not in the protocol, before anything is buffered", () => {
    const head = (length: number) => {
      const bytes = Buffer.alloc(5);
      bytes.writeUInt32BE(length);
      return bytes;
    };
    expect(new FrameReader().push(head(0))).toBeUndefined();
    expect(new FrameReader().push(head(MAX_FRAME + 1))).toBeUndefined();
    expect(new FrameReader().push(head(MAX_FRAME))).toEqual([]);
  });
});
