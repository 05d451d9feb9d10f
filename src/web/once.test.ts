import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import { once } from "./once.ts";

test("those who ask during the work, or soon after its start, share its answer; a failure is not kept", async () => {
  const clock = new SimClock();
  const works: PromiseWithResolvers<number>[] = [];
  const ask = once(clock, 1000, () => {
    const work = Promise.withResolvers<number>();
    works.push(work);
    return work.promise;
  });
  const first = [ask(), ask()];
  clock.advance(5000); // Longer than the time: the work itself is shared all the same.
  first.push(ask());
  works[0]?.resolve(1);
  expect([await Promise.all(first), works.length]).toEqual([[1, 1, 1], 1]);
  const second = ask();
  works[1]?.resolve(2);
  await second;
  clock.advance(999);
  expect([await ask(), works.length]).toEqual([2, 2]);
  clock.advance(1);
  const failing = ask();
  works[2]?.reject(new Error("no"));
  await expect(failing).rejects.toThrow("no");
  void ask();
  expect(works.length).toBe(4);
});
