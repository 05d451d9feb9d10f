import { expect, test } from "bun:test";
import type { Result } from "../../base/result.ts";
import { Feed } from "./feed.ts";

class Site {
  readonly fetches: ((answer: Result<number>) => void)[] = [];
  readonly timers: (() => void)[] = [];
  readonly feed = new Feed<number>(
    () => new Promise((resolve) => this.fetches.push(resolve)),
    (_, fn) => void this.timers.push(fn),
  );

  async answer(answer: Result<number>): Promise<void> {
    this.fetches.at(-1)?.(answer);
    await Promise.resolve();
    await Promise.resolve();
  }
}

test("FE1 FE2 many wishes during a fetch and its pause become one more fetch", async () => {
  const one = new Site();
  for (let wish = 0; wish < 5; wish += 1) one.feed.refresh();
  expect(one.fetches).toHaveLength(1);
  await one.answer({ ok: true, value: 1 });
  one.feed.refresh();
  expect([one.fetches.length, one.feed.value.value]).toEqual([1, 1]);
  one.timers.shift()?.();
  expect(one.fetches).toHaveLength(2);
  await one.answer({ ok: true, value: 2 });
  one.timers.shift()?.();
  expect([one.fetches.length, one.feed.value.value]).toEqual([2, 2]);
});

test("FE3 a refusal is shown, and the last value stays", async () => {
  const site = new Site();
  site.feed.refresh();
  await site.answer({ ok: true, value: 1 });
  site.timers.shift()?.();
  site.feed.refresh();
  await site.answer({ ok: false, error: { code: "x", message: "No.", hint: "Wait." } });
  expect([site.feed.value.value, site.feed.refusal.value?.code]).toEqual([1, "x"]);
});
