// Whose a home is when its daemon starts, as a table.
import { expect, test } from "bun:test";
import { decideStart, type HomeInDatabase, isOwnTake, type Remembered } from "./start.ts";

const HOME: HomeInDatabase = { epoch: 5, take: "ours", owner: "one", moveTo: "" };
const OURS: Remembered = { take: { epoch: 5, id: "ours" }, wished: null };
const kindOf = (home: Partial<HomeInDatabase>, remembered: Remembered | undefined) =>
  decideStart({ ...HOME, ...home }, remembered, "one").kind;

test("ST1 a start raises the epoch of a home that is ours, also if only the database knows that it is", () => {
  expect(decideStart(HOME, OURS, "one")).toEqual({ kind: "take", epoch: 6, isDoubtful: false });
  const wished = { take: { epoch: 4, id: "before" }, wished: { epoch: 5, id: "ours" } };
  expect(decideStart(HOME, wished, "one")).toEqual({ kind: "take", epoch: 6, isDoubtful: false });
  expect(kindOf({ epoch: 0, take: "", owner: "" }, undefined)).toBe("take");
});

test("ST4 whoever had it once follows when another host has it, whatever was written here since", () => {
  const follow = { kind: "follow", owner: "two", epoch: 6 };
  expect(decideStart({ ...HOME, epoch: 6, take: "theirs", owner: "two" }, OURS, "one")).toEqual(follow as never);
  expect(kindOf({ take: "theirs" }, OURS)).toBe("follow"); // The same epoch, after a fail-over that lost ours.
  expect(kindOf({}, undefined)).toBe("follow");
});

test("ST2 a database that has lost our take is older, and the home is still ours", () => {
  expect(decideStart({ ...HOME, epoch: 4, take: "before" }, OURS, "one")).toEqual({
    kind: "take",
    epoch: 5,
    isDoubtful: true,
  });
});

test("ST3 whoever knows that another host took it follows, also if the database has lost that take, and ours too", () => {
  for (const lost of [
    { epoch: 5, take: "ours" },
    { epoch: 4, take: "before" },
  ]) {
    expect(kindOf(lost, { ...OURS, lostAt: 6 })).toBe("follow");
    // A note that is older than our take, or does not know by which take, says only that it is doubtful.
    for (const lostAt of [4, 0]) expect(kindOf(lost, { ...OURS, lostAt })).toBe("take");
  }
  expect(kindOf({ epoch: 4 }, { ...OURS, wished: { epoch: 6, id: "sent" }, lostAt: 6 })).toBe("follow");
});

test("ST2 a take that is ours is doubtful if another host had the home in between, and nothing says by which take", () => {
  expect(decideStart(HOME, { ...OURS, lostAt: 0 }, "one")).toEqual({ kind: "take", epoch: 6, isDoubtful: true });
});

test("a take that the database has is ours also if we only wished for it", () => {
  expect(isOwnTake(HOME, { take: null, wished: { epoch: 5, id: "ours" } })).toBe(true);
  expect([isOwnTake(HOME, undefined), isOwnTake({ take: "" }, OURS)]).toEqual([false, false]);
});

test("ST5 a home that is to move to another host is left alone, and one that is to come here is not", () => {
  expect(decideStart({ ...HOME, moveTo: "two" }, OURS, "one")).toEqual({ kind: "follow", owner: "two", epoch: 5 });
  expect(kindOf({ moveTo: "one" }, OURS)).toBe("take");
});
