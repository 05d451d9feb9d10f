import { expect, test } from "bun:test";
import { Places } from "./places.ts";

const LIMITS = { all: 8, silent: 3, guests: 3, guest: 2 };

function guests() {
  const left: string[] = [];
  const places = new Places<{ readonly name: string; destroy(): void }>(LIMITS);
  const come = (name: string) => {
    const client = { name, destroy: () => void left.push(name) };
    places.enter(client);
    return client;
  };
  const sit = (name: string, guest?: string) => places.sit(come(name), guest);
  return { places, left, come, sit };
}

test("PL1 of too many silent clients the one that came first leaves, and those that spoke stay", () => {
  const { places, left, come } = guests();
  const [a, b] = [come("a"), come("b")];
  expect(places.sit(a, undefined)).toBe(true);
  for (const name of ["c", "d", "e"]) come(name);
  expect(left).toEqual(["b"]);
  expect(places.sit(b, undefined)).toBe(false); // It had to leave.
  expect(places.count).toBe(4);
});

test("PL2 a guest has a limit, all guests have one, and the operator gets the rest", () => {
  const { places, sit } = guests();
  expect([sit("1", "x"), sit("2", "x"), sit("3", "x")]).toEqual([true, true, false]);
  expect([sit("4", "y"), sit("5", "z")]).toEqual([true, false]);
  expect(places.isHalfFull).toBe(false);
  expect(["6", "7", "8", "9", "10"].map((name) => sit(name))).toEqual([true, true, true, true, true]);
  expect([places.isHalfFull, sit("11")]).toEqual([true, false]);
});

test("whoever leaves makes room, silent or not", () => {
  const { places, come } = guests();
  const guest = come("a");
  expect(places.sit(guest, "x")).toBe(true);
  places.leave(guest);
  places.leave(come("b"));
  expect(places.count).toBe(0);
});
