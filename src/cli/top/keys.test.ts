import { expect, test } from "bun:test";
import { KeyReader } from "./keys.ts";

const ESC = "\u001b";

function read(...pieces: readonly string[]): string[] {
  const reader = new KeyReader();
  const keys = pieces.flatMap((piece) => reader.push(Buffer.from(piece)));
  return keys.map((key) => (key.kind === "named" ? `<${key.name}>` : `${key.kind[0]}:${key.text}`));
}

test("keys are read by their names, and characters one by one", () => {
  expect(read(`ja${ESC}[A${ESC}OB\t\r\u0003`)).toEqual(["t:j", "t:a", "<up>", "<down>", "<down>", "<enter>", "<quit>"]);
  expect(read(`${ESC}[5~${ESC}[6~${ESC}[H${ESC}[4~\u007f\u0015`)).toEqual([
    ...["<pageup>", "<pagedown>", "<home>", "<end>", "<erase>", "<clear>"],
  ]);
  expect(read("漢😀")).toEqual(["t:漢", "t:😀"]);
  expect(read(ESC)).toEqual(["<escape>"]);
});

test("KY1 no character of a sequence is a key, in whatever pieces it comes", () => {
  const sequences = [
    `${ESC}a`,
    `${ESC}[<0;1;1M`,
    `${ESC}[?62;1;2c`,
    `${ESC}]11;rgb:aaaa/dddd/ffff\u0007`,
    `${ESC}]11;rgb:aaaa/dddd/ffff${ESC}\\`,
    `${ESC}P1$r0a${ESC}\\`,
    `${ESC}[97;3u`,
  ];
  for (const sequence of sequences) {
    expect(read(sequence)).toEqual([]);
    expect(read(`x${sequence}y`)).toEqual(["t:x", "t:y"]);
    for (let at = 2; at < sequence.length; at += 1) expect(read(sequence.slice(0, at), sequence.slice(at))).toEqual([]);
  }
  expect(read(ESC, "[97;3u")).toEqual(["<escape>"]);
  expect(read(ESC, "a")).toEqual(["<escape>", "t:a"]);
  expect(read(`${ESC}]11;never ends`, "aaa", "\u0003")).toEqual(["<quit>"]);
  const [first, second] = [Buffer.from("漢").subarray(0, 1), Buffer.from("漢").subarray(1)];
  const reader = new KeyReader();
  expect([reader.push(first), reader.push(second)]).toEqual([[], [{ kind: "typed", text: "漢" }]]);
});

test("KY2 what is pasted is one text and no key, in whatever pieces it comes", () => {
  const paste = `${ESC}[200~a\rq${ESC}[A${ESC}[201~`;
  for (let at = 2; at < paste.length; at += 1)
    expect(read(`${paste.slice(0, at)}`, `${paste.slice(at)}d`)).toEqual([`p:a\rq${ESC}[A`, "t:d"]);
});
