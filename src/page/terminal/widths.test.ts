import { expect, test } from "bun:test";
import { WIDTHS as MEASURED } from "../../world/widths.ts";
import { WIDTHS } from "./widths.ts";

test("WT1 every character has the width that snapshots are made with", () => {
  const others: number[] = [];
  for (let code = 0; code < 0x110000; code += 1) if (WIDTHS.wcwidth(code) !== MEASURED.wcwidth(code)) others.push(code);
  expect(others).toEqual([]);
  const [party, joiner] = [0x1f389, 0x200d];
  expect([WIDTHS.wcwidth(party), WIDTHS.wcwidth(joiner)]).toEqual([2, 0]);
  for (const before of [0, 2, 4])
    expect(WIDTHS.charProperties(joiner, before)).toBe(MEASURED.charProperties(joiner, before));
});
