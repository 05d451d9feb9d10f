// Questions of a program, in a holder with a simulated world: what is typed, and when.
import { expect, test } from "bun:test";
import { ANSWER, jsonFrame, RESIZE } from "../../src/wire/holder/protocol.ts";
import { held } from "./held.ts";

const ESC = "\u001b";
const POSITION = `${ESC}[6n`;
const MAX_INPUT_WAITING = 256 << 10;

const answerOf = (n: number, answer: string, generation = 1) => jsonFrame(ANSWER, { generation, n, answer });

test("an answer is typed once, for its generation and its question, and only if it is what a terminal reports", () => {
  const { program, client, clock } = held();
  program.events?.output(Buffer.from(`ab${POSITION}${ESC}[5n`));
  client.bytes(answerOf(1, `${ESC}[2;3R`, 2));
  client.bytes(answerOf(2, `${ESC}[2;3R`));
  expect(program.acts).toEqual([]);
  for (let at = 0; at < 2; at += 1) client.bytes(answerOf(1, `${ESC}[2;3R`));
  clock.advance(60_000);
  expect(program.acts).toEqual([`typed ${ESC}[2;3R${ESC}[0n`]);
  program.events?.output(Buffer.from(POSITION));
  client.bytes(answerOf(2, `rm -rf ~\r${ESC}[2;3R`));
  clock.advance(60_000);
  expect(program.acts.slice(1)).toEqual([`typed ${ESC}[1;1R`]);
});

test("a window that attaches meanwhile does not get the question, which is answered all the same", () => {
  const { program, client, clock } = held();
  program.events?.output(Buffer.from(POSITION));
  client.bytes(jsonFrame(RESIZE, { cols: 80, rows: 24 }));
  program.events?.output(Buffer.from(POSITION)); // This one is the window's.
  client.bytes(answerOf(1, `${ESC}[2;3R`));
  clock.advance(60_000);
  expect(program.acts).toEqual([`typed ${ESC}[2;3R`]);
});

test("a program that asks and never reads gets no more answers", () => {
  const { program } = held();
  program.waiting = MAX_INPUT_WAITING + 1;
  program.events?.output(Buffer.from(`${ESC}[5n`));
  program.waiting = 0;
  program.events?.output(Buffer.from(`${ESC}[c`));
  expect(program.acts).toEqual([`typed ${ESC}[?1;2c`]);
});
