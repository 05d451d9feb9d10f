import { expect, test } from "bun:test";
import { ok, type Result, refused } from "../../base/result.ts";
import type { PastScreen } from "../../wire/rpc/rpc.ts";
import type { Wish } from "./past.ts";
import { Replay } from "./replay.ts";

const FIRST = Date.parse("2026-11-17T10:00:00.000Z");
const iso = (ms: number) => new Date(FIRST + ms).toISOString();

/** A tape on which a byte came in each of the first five seconds, and then one after an hour. */
const CAME = [0, 1_000, 2_000, 3_000, 4_000, 3_600_000];

function screenFor({ offset, time }: Wish): PastScreen {
  const at = time === undefined ? Number.POSITIVE_INFINITY : Date.parse(time) - FIRST;
  const until = offset ?? CAME.filter((came) => came <= at).length;
  return {
    ...{ offset: until, until, cols: 80, rows: 24, vt: "", exact: true, at: "", title: "", alternate: false },
    ...{ time: iso(CAME[until - 1] ?? 0), first: iso(0), last: iso(3_600_000), tape: { start: 0, end: CAME.length } },
  };
}

type Asking = { readonly wish: Wish; readonly answer: (result: Result<PastScreen>) => void };

function replaying() {
  const asked: Asking[] = [];
  const timers = new Set<() => void>();
  const replay = new Replay({
    ask: (wish) => new Promise((answer) => asked.push({ wish, answer })),
    every: (_, fn) => {
      timers.add(fn);
      return () => timers.delete(fn);
    },
  });
  /** Answers the oldest question. */
  const answer = async (given?: Result<PastScreen>) => {
    const { wish, answer: reply } = asked.shift() ?? expect.unreachable("nothing was asked for");
    reply(given ?? ok(screenFor(wish)));
    await new Promise(setImmediate);
    return wish;
  };
  const tick = () => {
    for (const fn of timers) fn();
  };
  return { replay, asked, answer, tick, timers };
}

test("RE1 of the places that are dragged over while a screen is awaited, only the last is asked for", async () => {
  const { replay, asked, answer } = replaying();
  replay.to({ kind: "end" });
  for (const ms of [1, 2, 3]) replay.to({ kind: "time", ms: FIRST + ms * 1_000 });
  expect(asked.length).toBe(1);
  expect([await answer(), await answer()]).toEqual([{}, { time: iso(3_000) }]);
  expect([asked.length, replay.screen.value?.until, replay.value.value - FIRST]).toEqual([0, 4, 3_000]);
});

test("RE2 a refusal leaves the screen, and the next place clears it", async () => {
  const { replay, answer } = replaying();
  replay.to({ kind: "end" });
  await answer();
  replay.to({ kind: "time", ms: 5 });
  await answer(refused("no-times", "Too early.", "Later."));
  expect([replay.refusal.value?.message, replay.screen.value?.until]).toEqual(["Too early.", 6]);
  replay.to({ kind: "time", ms: FIRST });
  await answer();
  expect([replay.refusal.value, replay.screen.value?.until]).toEqual([undefined, 1]);
});

test("RE3 it plays at its speed, skips the hour in which nothing came, and ends at the end", async () => {
  const { replay, answer, tick, timers } = replaying();
  replay.to({ kind: "time", ms: FIRST });
  await answer();
  replay.speed.value = 4;
  replay.play();
  const seen: number[] = [];
  for (let ticks = 0; ticks < 12 && timers.size > 0; ticks += 1) {
    tick();
    if (timers.size > 0) await answer();
    seen.push(replay.value.value - FIRST);
  }
  expect(seen).toEqual([1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 3_600_000, 3_600_000]);
  expect(replay.isPlaying.value).toBe(false);
});

test("playing again from the end begins at the beginning, and moving pauses", async () => {
  const { replay, answer, timers } = replaying();
  replay.to({ kind: "end" });
  await answer();
  replay.play();
  expect([await answer(), timers.size]).toEqual([{ time: iso(0) }, 1]);
  replay.to({ kind: "time", ms: FIRST + 1_000 });
  await answer();
  expect([replay.isPlaying.value, timers.size]).toEqual([false, 0]);
});
