import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import type { QueryAnswer } from "./queries.ts";
import { Questions } from "./questions.ts";

const known = (text: string): QueryAnswer => ({ text, after: 0 });
const asked = (text: string, after = 0): QueryAnswer => ({ text, query: `${text}?`, after });

function opened() {
  const clock = new SimClock();
  const typed: string[] = [];
  const calls = { asks: 0 };
  const questions = new Questions(clock, { type: (text) => typed.push(text), ask: () => (calls.asks += 1) });
  return { clock, typed, calls, questions };
}

test("QO1 answers are typed in the order of the questions, and what needs no screen at once", () => {
  const { typed, questions, calls, clock } = opened();
  questions.add([known("a")], 10);
  expect([typed, calls.asks, clock.pendingTimers]).toEqual([["a"], 0, 0]);
  questions.add([known("b"), asked("c", 4), known("d"), asked("e")], 30);
  expect([typed, calls.asks]).toEqual([["a", "b"], 1]);
  expect(questions.open).toEqual([
    { n: 1, offset: 26, query: "c?" },
    { n: 2, offset: 30, query: "e?" },
  ]);
  questions.answer(2, "E");
  expect(typed).toEqual(["a", "b"]);
  questions.answer(1, "C");
  expect([typed, questions.open, clock.pendingTimers]).toEqual([["a", "b", "CdE"], [], 0]);
});

test("QO2 a question is answered once: by the first of the screen and the time limit, which is for each", () => {
  const { typed, questions, clock } = opened();
  questions.add([asked("a"), asked("b")], 1);
  clock.advance(1499);
  questions.answer(1, "A");
  questions.answer(1, "again");
  clock.advance(1499);
  expect(typed).toEqual(["A"]);
  clock.advance(1);
  questions.answer(2, "late");
  expect(typed).toEqual(["A", "b"]);
});

test("QO3 if nobody answered, nobody is asked for a while", () => {
  const { typed, questions, clock, calls } = opened();
  questions.add([asked("a")], 1);
  clock.advance(1500);
  questions.add([asked("b")], 2);
  expect([typed, calls.asks]).toEqual([["a", "b"], 1]);
  clock.advance(30_000);
  questions.add([asked("c")], 3);
  expect([typed, calls.asks]).toEqual([["a", "b"], 2]);
});

test("QO4 a program that asks too often, or too much at once, gets our own answers", () => {
  const often = opened();
  for (let at = 1; at <= 60; at += 1) {
    often.questions.add([asked("own")], at);
    often.questions.answer(at, "screen");
  }
  expect(often.typed).toEqual([...Array(50).fill("screen"), ...Array(10).fill("own")]);
  const much = opened();
  much.questions.add([asked("a"), ...Array(200).fill(known("b"))], 1);
  expect([much.typed, much.questions.open, much.calls.asks]).toEqual([[`a${"b".repeat(200)}`], [], 0]);
});

test("nothing is typed after the end", () => {
  const { typed, questions, clock } = opened();
  questions.add([asked("a")], 1);
  questions.close();
  questions.answer(1, "A");
  clock.advance(5000);
  expect([typed, clock.pendingTimers]).toEqual([[], 0]);
});
