import { expect, test } from "bun:test";
import fc from "fast-check";
import { ByteQueue } from "./byte-queue.ts";

const NEWLINE = 10;

test("what is pushed in any pieces comes out in order, and views stay what they were", () => {
  const piece = fc.uint8Array({ maxLength: 20, max: 12 });
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, fc.nat(30))), (steps) => {
      const queue = new ByteQueue();
      let model = Buffer.alloc(0);
      const views: (readonly [Uint8Array, Buffer])[] = [];
      for (const [bytes, count] of steps) {
        queue.push(bytes);
        model = Buffer.concat([model, bytes]);
        expect([queue.length, queue.find(NEWLINE)]).toEqual([model.length, model.indexOf(NEWLINE)]);
        views.push([queue.view(), Buffer.from(model)]);
        const dropped = Math.min(count, model.length);
        queue.drop(dropped);
        model = model.subarray(dropped);
      }
      for (const [view, was] of views) expect(was.equals(view)).toBe(true);
    }),
  );
});

test("BQ1 a megabyte in single bytes take no time", () => {
  const queue = new ByteQueue();
  const byte = Buffer.from("x");
  for (let count = 0; count < 1 << 20; count += 1) {
    queue.push(byte);
    if (queue.find(NEWLINE) >= 0) throw new Error("there is no newline");
  }
  expect(queue.length).toBe(1 << 20);
});
