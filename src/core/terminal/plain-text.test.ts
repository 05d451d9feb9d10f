import { expect, test } from "bun:test";
import { PlainText } from "./plain-text.ts";

function linesOf(text: string, size = text.length): string[] {
  const plain = new PlainText();
  const bytes = Buffer.from(text);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += Math.max(1, size)) lines.push(...plain.push(bytes.subarray(at, at + size)));
  return plain.last === "" ? lines : [...lines, plain.last];
}

test("PL1 a line is its final state after overwriting, erasing and editing", () => {
  expect(linesOf("10 %\r50 %\r100 %\r\n")).toEqual(["100 %"]);
  expect(linesOf("lsx\b \b\r\n")).toEqual(["ls"]);
  expect(linesOf("abcdef\u001b[3D\u001b[K!\r\n")).toEqual(["abc!"]);
  expect(linesOf("abc\u001b[1G\u001b[2Pz\r\n")).toEqual(["z"]);
  expect(linesOf("ac\b\u001b[@b\r\n")).toEqual(["abc"]);
  expect(linesOf("a\tb\r\n")).toEqual(["a       b"]);
});

test("colours, titles, links and questions leave nothing behind, however the bytes are split", () => {
  const text =
    "\u001b]0;title\u0007\u001b[1;31mréd\u001b[0m \u001b]8;;http://x\u001b\\日本\u001b]8;;\u001b\\\u001b[6n\r\nnext\r\n";
  for (let size = 1; size <= text.length; size += 1) expect(linesOf(text, size)).toEqual(["réd 日本", "next"]);
});

test("strings without an end stop at ESC, CAN or SUB, and cut sequences hide nothing, however the bytes are split", () => {
  const cut = ["]0;title", "^private", "_command", "Xstart", "P1$r", "P"].map((string) => `\u001b${string}`);
  const ends = ["\u001b\\", "\u009c", "\u0018", "\u001a", "\u001b[1m", "\u001b]0;again\u0007"];
  const odd = ["\u001b[3", "\u001b", "\u001b(", "\u001b[?1;"].map((begun) => `${begun}\u001b[m`);
  const strange = ["\u001b[1?2h", "\u001b`", "\u001b[3\u0018", "\u001b(["];
  for (const piece of [...cut.flatMap((string) => ends.map((end) => string + end)), ...odd, ...strange]) {
    const text = `before\r\n${piece}shown\r\nnext`;
    const sizes = Array.from({ length: text.length }, (_, at) => at + 1);
    for (const size of sizes) expect([piece, linesOf(text, size)]).toEqual([piece, ["before", "shown", "next"]]);
  }
});

test("PL2 what an editor drew is left out; lines before and after it stay", () => {
  const editor = "\u001b[?1049h\u001b[2J\u001b[5;5Hdrawn\r\n~\r\n\u001b[?1049l";
  expect(linesOf(`before\r\n${editor}after\r\n`)).toEqual(["before", "after"]);
});

test("moving the cursor elsewhere leaves its line as it is", () => {
  expect(linesOf("$ clear\r\n\u001b[H\u001b[2Jtop\r\n")).toEqual(["$ clear", "top"]);
  expect(linesOf("one\u001b[10;1Htwo")).toEqual(["one", "two"]);
});

test("PL3 garbage gives only characters: NUL, split UTF-8, sequences without an end, endless lines", () => {
  expect(linesOf("a\u0000b\u0007c\u009bd\r\n")).toEqual(["abcd"]);
  expect(new PlainText().push(Buffer.from([0xe6, 0x97, 10]))).toEqual(["\ufffd"]);
  const plain = new PlainText();
  plain.push(Buffer.from("\u001b]0;never ends"));
  expect(plain.push(Buffer.from("x".repeat(70_000)))).toHaveLength(1);
  expect(linesOf("y".repeat(200_000)).length).toBeGreaterThan(2);
});

test("PL5 a few bytes of sequences make little text, and are read to their end", () => {
  expect(linesOf("\u001b[99999999Cz\r\n")[0]?.length).toBe(2001);
  expect(linesOf("ab\b\u001b[65536@c\r\n")).toEqual([`ac${" ".repeat(1999)}b`]);
  const forever = ["\u001b[65536@", "\u001b[65535C.", "\u001b[9999999Gx\r\n", "\u001b[1K", "\u001b[65536X", "\u001b[P"];
  for (const sequence of forever) {
    const text = `a\b${sequence.repeat(20_000)}`;
    const plain = new PlainText();
    const made = [...plain.push(Buffer.from(text)), plain.last].reduce((sum, line) => sum + line.length, 0);
    expect([sequence, made < 64 * 1024 + 17 * text.length]).toEqual([sequence, true]);
  }
  const line = "x".repeat(60_000); // If each sequence were as slow as the line is long, this would take minutes.
  expect(linesOf(line + "\r\u001b[P\u001b[@\u001b[1K\u001b[9X".repeat(50_000)).length).toBeGreaterThan(0);
});

test("PL5 what people do with a line is kept: columns by moves, and the editing of a long command", () => {
  const table = Array.from({ length: 500 }, (_, n) => `n${n}\u001b[20Gsize\u001b[60Gowner\r\n`).join("");
  expect(linesOf(table).at(-1)).toBe(`${"n499".padEnd(19)}size${" ".repeat(36)}owner`);
  const command = `echo ${"word ".repeat(80)}`;
  expect(linesOf(`${command}\r${"\u001b[P".repeat(300)}\r\n`)).toEqual([command.slice(300).trimEnd()]);
});

test("PL4 text that starts on the alternate screen has no lines until it is left", () => {
  const text = "drawn\r\nby vim\r\n\u001b[?1049lline\r\n\u001b[?1049h\u001b[?1049lmore\r\n";
  const read = (isCut: boolean) => {
    const lines: string[] = [];
    const plain = new PlainText(isCut ? () => void lines.splice(0) : undefined);
    for (const byte of Buffer.from(text)) lines.push(...plain.push(new Uint8Array([byte])));
    return lines;
  };
  expect(read(true)).toEqual(["line", "more"]);
  expect(read(false)).toEqual(["drawn", "by vim", "line", "more"]);
});
