import { expect, test } from "bun:test";
import { Queries, type QueryAnswer } from "./queries.ts";

const ESC = "\u001b";
const SIZE = { cols: 90, rows: 30 };

const textOf = (answers: readonly QueryAnswer[]) => answers.map(({ text }) => text).join("");

function answersTo(text: string, size = text.length): string {
  const queries = new Queries();
  const bytes = Buffer.from(text);
  let answers = "";
  for (let at = 0; at < bytes.length; at += size)
    answers += textOf(queries.answersTo(bytes.subarray(at, at + size), SIZE));
  return answers;
}

test("QA1 identity, status, position, size and modes are answered in their order, however the output is split", () => {
  const asked = `a${ESC}[cb${ESC}[0c${ESC}[>c${ESC}[5n${ESC}[6n${ESC}[18t${ESC}[?2026$p${ESC}[4$p${ESC}Z`;
  const answers = [
    ...[`${ESC}[?1;2c`, `${ESC}[?1;2c`, `${ESC}[>0;276;0c`, `${ESC}[0n`, `${ESC}[1;1R`, `${ESC}[8;30;90t`],
    ...[`${ESC}[?2026;0$y`, `${ESC}[4;0$y`, `${ESC}[?1;2c`],
  ];
  for (let size = 1; size <= asked.length; size += 1) expect(answersTo(asked, size)).toBe(answers.join(""));
});

test("QA1 what is no question, or needs an emulator, gets no answer", () => {
  const drawing = `${ESC}[2J${ESC}[1;31mred${ESC}[?25l${ESC}[3c${ESC}[22;0t${ESC}[14t${ESC}]11;?${ESC}\\${ESC}[?u${ESC}P+q544e${ESC}\\`;
  for (const size of [1, 3, drawing.length]) expect(answersTo(drawing, size)).toBe("");
});

test("the position is the one that a window last reported; what a window has seen is not answered later", () => {
  const queries = new Queries();
  queries.typed(Buffer.from(`x${ESC}[3;4R${ESC}[12;40Ry`));
  expect(textOf(queries.answersTo(Buffer.from(`${ESC}[6n${ESC}[?6n`), SIZE))).toBe(`${ESC}[12;40R${ESC}[?12;40R`);
  expect(queries.answersTo(Buffer.from(`${ESC}[5`), SIZE)).toEqual([]);
  queries.skip();
  expect(queries.answersTo(Buffer.from("n"), SIZE)).toEqual([]);
});

test("QA3 positions and modes are for the screen program, and it is told where they were asked", () => {
  const queries = new Queries();
  const asked = (text: string) => queries.answersTo(Buffer.from(text), SIZE).map(({ query, after }) => [query, after]);
  expect(asked(`${ESC}[c${ESC}[6nab${ESC}[?25$p${ESC}[?`)).toEqual([
    [undefined, 16],
    [`${ESC}[6n`, 12],
    [`${ESC}[?25$p`, 3],
  ]);
  expect(asked("6nx")).toEqual([[`${ESC}[?6n`, 1]]);
});
