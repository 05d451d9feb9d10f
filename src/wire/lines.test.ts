import { expect, test } from "bun:test";
import { decodeLine, encodeLine, isObject, LineReader, MAX_LINE } from "./lines.ts";

test("lines come out complete and in order, however the stream is cut", () => {
  const stream = Buffer.concat([encodeLine({ a: "ä€😀" }), encodeLine({ b: [1] }), encodeLine({})]);
  for (let size = 1; size <= stream.length; size += 1) {
    const reader = new LineReader();
    const lines: string[] = [];
    for (let at = 0; at < stream.length; at += size) lines.push(...(reader.push(stream.subarray(at, at + size)) ?? []));
    expect(lines).toEqual(['{"a":"ä€😀"}', '{"b":[1]}', "{}"]);
  }
});

test("reusing the buffer does not change what was kept", () => {
  const reader = new LineReader();
  const bytes = Buffer.from('{"a":');
  expect(reader.push(bytes)).toEqual([]);
  bytes.fill(0);
  expect(reader.push(Buffer.from("1}\n"))).toEqual(['{"a":1}']);
});

test("a line of exactly the limit fits; one byte more does not, with or without its end", () => {
  const line = "x".repeat(MAX_LINE);
  expect(new LineReader().push(Buffer.from(`${line}\n`))?.[0]?.length).toBe(MAX_LINE);
  expect(new LineReader().push(Buffer.from(line))).toEqual([]);
  expect(new LineReader().push(Buffer.from(`${line}x`))).toBeUndefined();
  expect(new LineReader().push(Buffer.from(`${line}x\n`))).toBeUndefined();
});

test("only JSON objects are messages", () => {
  for (const line of ["", "{", "1", "null", "[]", '"x"', "{}x", "\0"]) expect(decodeLine(line)).toBeUndefined();
  expect(decodeLine('{"a":{"b":null}}')).toEqual({ a: { b: null } });
  expect([{}, [], null, "x", undefined].map(isObject)).toEqual([true, false, false, false, false]);
});

test("text with line breaks is still one line", () => {
  expect(Buffer.from(encodeLine({ a: "1\n2\r\n3\u2028" })).indexOf(10)).toBe(
    encodeLine({ a: "1\n2\r\n3\u2028" }).length - 1,
  );
});
