// What the drill would notice: each kind of loss and doubling, made by hand.
import { describe, expect, test } from "bun:test";
import { Copy } from "./copy.ts";
import { Findings } from "./findings.ts";

function seen(...parts: readonly (readonly [offset: number, text: string])[]) {
  const findings = new Findings();
  const copy = new Copy("t", findings);
  for (const [offset, text] of parts) copy.take(offset, Buffer.from(text));
  const { lost, doubled, violations } = findings;
  return { lost, doubled, violations: violations.length, copy };
}

describe("drill: a reader's copy", () => {
  test("lines that arrive in pieces are joined, without a finding", () => {
    const { copy, ...found } = seen([0, "ready\r\nt 0\r\ne i"], [15, "1\r\no 0\r\nt 1\r\n"]);
    expect(found).toEqual({ lost: 0, doubled: 0, violations: 0 });
    expect(copy.ready).toBe(true);
    expect([...copy.echoes]).toEqual([["i1", 1]]);
    expect(copy.bytes.toString()).toBe("ready\r\nt 0\r\ne i1\r\no 0\r\nt 1\r\n");
  });

  test("bytes that never arrived are counted as lost", () => {
    expect(seen([0, "ready\r\n"], [12, "t 0\r\n"])).toMatchObject({ lost: 5, doubled: 0, violations: 1 });
  });

  test("bytes that arrived twice are counted as doubled", () => {
    expect(seen([0, "ready\r\n"], [5, "\r\n"])).toMatchObject({ lost: 0, doubled: 2 });
  });

  test("a skipped number is lost, and a repeated one is doubled", () => {
    expect(seen([0, "t 0\nt 1\nt 4\n"])).toMatchObject({ lost: 2, doubled: 0 });
    expect(seen([0, "t 0\nt 1\nt 1\n"])).toMatchObject({ lost: 0, doubled: 1 });
  });

  test("a restarted program is noticed", () => {
    expect(seen([0, "ready\nt 0\nready\n"])).toMatchObject({ violations: 1 });
  });

  test("a line that the program never prints is noticed", () => {
    expect(seen([0, "ready\nrubbish\n"])).toMatchObject({ violations: 1 });
  });
});
