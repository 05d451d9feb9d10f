#!/usr/bin/env bun
// The table of deliberate bugs in docs/PROOF.md, made from bugs.ts: `bun tests/bugs/page.ts` writes it anew.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readText } from "../../scripts/files.ts";
import { BUGS } from "./bugs.ts";

export const PAGE = "docs/PROOF.md";
const BEGIN = "<!-- deliberate bugs: made by tests/bugs/page.ts -->\n";
const END = "<!-- end of deliberate bugs -->";

function table(): string {
  const rows = BUGS.map(({ bug, how, what, caughtBy }) => `| ${bug} | ${what} | ${how} | ${caughtBy} |\n`);
  return `| bug | what it does | put into | caught by |\n|---|---|---|---|\n${rows.join("")}`;
}

/** The page with its table as it should be. */
export function renewed(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`${PAGE} has no place for the table`);
  return `${before}${BEGIN}${table()}${END}${after}`;
}

if (import.meta.main) {
  writeFileSync(join(ROOT, PAGE), renewed(readText(PAGE)));
  console.log(`${PAGE}: written`);
}
