#!/usr/bin/env bun
// Tries mutants by hand: `bun tests/mutants/main.ts [WORDS]`, those whose room or description contains the words. The
// last line counts; the exit code is 0 if all were killed.
import { Lab } from "./lab.ts";
import { roomOf } from "./mutant.ts";
import { MUTANTS } from "./mutants.ts";

const [words = ""] = process.argv.slice(2);
const lab = new Lab();
const names = MUTANTS.map((mutant) => ({ mutant, name: `${roomOf(mutant.file)}: ${mutant.mutant}` }));
const chosen = names.filter(({ name }) => name.includes(words));
let killed = 0;
for (const { mutant, name } of chosen) {
  const began = performance.now();
  const fate = await lab.fateOf(mutant);
  if (fate === "killed") killed += 1;
  console.log(`${((performance.now() - began) / 1000).toFixed(1)} s  ${name}: ${fate}`);
}
lab.remove();
console.log(`${killed} of ${chosen.length} killed`);
process.exit(killed === chosen.length ? 0 : 1);
