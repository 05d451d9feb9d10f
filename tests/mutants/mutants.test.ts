// Mutants against the suite itself (mutant.ts): each is put into a copy of the sources, and the ordinary test that is
// named with it must fail. The gate runs the sentinels (MU3). One at a time, as with the deliberate bugs.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readAll, readText } from "../../scripts/files.ts";
import { withBug } from "../bugs/plant.ts";
import { PROFILE } from "../sim/fuzz/profile.ts";
import { Lab } from "./lab.ts";
import { roomOf } from "./mutant.ts";
import { MUTANTS } from "./mutants.ts";

const LEAST_IN_A_ROOM = 3;
const SENTINELS = 12;

const tried = PROFILE.name === "ci" ? MUTANTS.filter(({ isSentinel }) => isSentinel) : MUTANTS;
let lab: Lab;
beforeAll(() => {
  lab = new Lab();
});
afterAll(() => lab.remove());

describe("without a mutant", () => {
  for (const [file, killers] of Map.groupBy(
    tried.map(({ killedBy }) => killedBy),
    (killer) => killer.file,
  ))
    test(`these tests pass: ${file}`, async () => expect(await lab.failing(file, killers)).toEqual([]));
});

describe("a mutant is killed by an ordinary test", () => {
  for (const mutant of tried)
    test(`${roomOf(mutant.file)}: ${mutant.mutant}`, async () => expect(await lab.fateOf(mutant)).toBe("killed"));
});

test("MU1 every mutant is different, and its change still matches the source", () => {
  expect(new Set(MUTANTS.map(({ mutant }) => mutant)).size).toBe(MUTANTS.length);
  for (const mutant of MUTANTS) expect(withBug(mutant.file, [mutant])).not.toBe(readText(mutant.file));
});

test("MU2 every room has at least three, and MU3 a dozen of all are sentinels", () => {
  const rooms = new Set(readAll("src/**/*.ts").map(({ path }) => roomOf(path)));
  const few = [...rooms].filter((room) => MUTANTS.filter(({ file }) => roomOf(file) === room).length < LEAST_IN_A_ROOM);
  expect(few).toEqual([]);
  expect(MUTANTS.filter(({ isSentinel }) => isSentinel).length).toBe(SENTINELS);
});

test("every killer is an ordinary test file: it knows nothing of mutants", () => {
  const tests = new Map(readAll("{src,tests}/**/*.test.ts").map(({ path, text }) => [path, text]));
  const missing = MUTANTS.filter(
    ({ killedBy }) => !tests.has(killedBy.file) || /^tests\/(?:bugs|mutants)\//.test(killedBy.file),
  );
  expect(missing.map(({ mutant }) => mutant)).toEqual([]);
});
