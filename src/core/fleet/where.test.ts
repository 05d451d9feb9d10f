import { expect, test } from "bun:test";
import { apart, labelsOf, placesNamed } from "./where.ts";

const ANN = { home: "aaaa1", name: "ann", owner: "ann" };
const BOB = { home: "bbbb1", name: "bob", owner: "bob" };
const WORK = { home: "bbbb2", name: "ann-work", owner: "bob" };
const ALL = [ANN, BOB, WORK];
const named = (key: string) => placesNamed(ALL, key).map(({ home }) => home);

test("WH1 a home is called like its host, or after both if there are several on it", () => {
  expect([...labelsOf(ALL).values()]).toEqual(["ann", "bob/bob", "bob/ann-work"]);
});

test("WH2 a home is meant by its label, its host, its own name, or its id", () => {
  expect(named("ann")).toEqual(["aaaa1"]);
  expect(named("bob")).toEqual(["bbbb1", "bbbb2"]);
  expect(named("bob/ann-work")).toEqual(["bbbb2"]);
  expect(named("ann-work")).toEqual(["bbbb2"]);
  expect(named("bbbb")).toEqual(["bbbb1", "bbbb2"]);
  for (const key of ["aaa", "", "nobody"]) expect(named(key)).toEqual([]);
});

test("what is behind the last slash is a name there", () => {
  expect(apart("bob/build")).toEqual({ where: "bob", name: "build" });
  expect(apart("bob/ann-work/build")).toEqual({ where: "bob/ann-work", name: "build" });
  for (const key of ["build", "/build", "bob/", "/", ""]) expect(apart(key)).toBeUndefined();
});
