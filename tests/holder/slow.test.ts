// A holder between others that are slow, on a clock of the test's own: a program that reads nothing, and a client that
// does not leave.
import { expect, test } from "bun:test";
import { inputFrame } from "../../src/wire/holder/protocol.ts";
import { held } from "./held.ts";

const MAX_INPUT_WAITING = 256 << 10;
const GOODBYE_MS = 3_000;

test("O3 while a program reads no input, the client that types it is not read either", () => {
  const { program, client, seen } = held();
  const type = (number: number) => client.bytes(inputFrame(number, 1, Buffer.from("x")));
  program.waiting = MAX_INPUT_WAITING;
  type(1);
  expect(seen).toEqual([]);
  program.waiting = MAX_INPUT_WAITING + 1;
  type(2);
  expect(seen).toEqual(["paused"]);
  program.events?.drained?.();
  expect(seen).toEqual(["paused", "resumed"]);
});

test("O3 after the end a client that does not leave is waited for three seconds, and no longer", async () => {
  const { clock, program, ended } = held();
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  program.events?.ended({ kind: "exited", code: 0 });
  await clock.settle();
  clock.advance(GOODBYE_MS - 1);
  await clock.settle();
  expect(isOver).toBe(false);
  clock.advance(1);
  await clock.settle();
  expect(isOver).toBe(true);
});
