import { expect, test } from "bun:test";
import fc from "fast-check";
import { PROFILE } from "../../tests/sim/fuzz/profile.ts";
import { lookUp, tableOf, toRecord, withAll, withValue } from "./table.ts";

test("T1 a table behaves like a map, and older versions of it never change", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.nat())),
      fc.string({ maxLength: 3 }),
      (pairs, name) => {
        const map = new Map(pairs);
        let table = tableOf<number>();
        for (const [key, value] of pairs) table = withValue(table, key, value);
        expect(new Map(Object.entries(toRecord(table)))).toEqual(map);
        expect(table.size).toBe(map.size);
        const after = withValue(table, name, -1);
        expect([lookUp(table, name), lookUp(after, name)]).toEqual([map.get(name), -1]);
      },
    ),
    { seed: PROFILE.seed },
  );
});

test("names such as constructor are names like any other", () => {
  const table = withAll(tableOf({ a: 1 }), { constructor: 2, toString: 3 });
  expect([lookUp(table, "constructor"), lookUp(table, "hasOwnProperty"), table.size]).toEqual([2, undefined, 3]);
});

test("T2 ten thousand names are set quickly", () => {
  let table = tableOf<number>();
  for (let at = 0; at < 10_000; at += 1) table = withValue(table, `name${at}`, at);
  expect([table.size, lookUp(table, "name9999")]).toEqual([10_000, 9999]);
});
