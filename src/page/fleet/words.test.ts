// What is said of a home of the fleet.
import { expect, test } from "bun:test";
import type { FleetHome } from "../../wire/page/messages.ts";
import { ageText, countsText, matchesHome, sorted, stateOf } from "./words.ts";

const NOW = Date.parse("2026-01-02T03:04:05.000Z");
const HOME: FleetHome = {
  ...{ id: "a", name: "web1-work", host: "web1", isHere: false, isNear: false, isLive: true, isOld: false, why: null },
  ...{ seenAt: null, listedAt: "2026-01-02T03:03:55.000Z", page: null, nearPage: null },
  counts: { terminals: 2, agents: 0, runs: 1, prompts: 0 },
};

test("what goes on there is counted, and an age that says too little is explained", () => {
  expect(countsText(HOME)).toBe("2 terminals · 1 run");
  expect(countsText({ ...HOME, counts: { terminals: 0, agents: 0, runs: 0, prompts: 0 } })).toBe("nothing goes on");
  expect(countsText({ ...HOME, counts: null, why: "another key" })).toBe("another key");
  expect(ageText(HOME, NOW)).toBe("This is what it had 10 s ago.");
  expect(ageText({ ...HOME, isOld: true }, NOW)).toContain("It should be newer");
  expect(ageText({ ...HOME, isLive: false, isOld: true }, NOW)).toContain("it may be down");
  expect(ageText({ ...HOME, listedAt: null, why: "another key" }, NOW)).toContain(
    "not known what web1-work has: another key",
  );
  const words = [HOME, { ...HOME, isOld: true }, { ...HOME, isLive: false, isOld: true }].map(
    (home) => stateOf(home).word,
  );
  expect(words).toEqual(["running", "silent", "not running"]);
});

test("this home comes first, then those that wait for somebody, then all by name; words find name and host", () => {
  const asks = { ...HOME, id: "b", name: "z", counts: { terminals: 0, agents: 0, runs: 0, prompts: 1 } };
  const all = [{ ...HOME, id: "d", name: "y" }, { ...HOME, id: "c", name: "x" }, asks, { ...HOME, isHere: true }];
  expect(
    sorted(all)
      .map(({ id }) => id)
      .join(""),
  ).toBe("abcd");
  expect(["", "WORK", "web1 work", "wo we"].every((words) => matchesHome(HOME, words))).toBe(true);
  expect(matchesHome(HOME, "web2")).toBe(false);
});
