// A copy of the sources, somewhere else, with or without a deliberate bug in it.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import type { Change } from "./bugs.ts";

/** What the checks need: neither packages nor anything that is made. */
const COPIED = ["src", "tests/sim", "tests/agents", "tests/bugs"];

/** The real agents are hundreds of megabytes. */
const REAL = /\/tests\/agents\/real(\/|$)/;

export function copySources(to: string): void {
  for (const directory of COPIED) {
    mkdirSync(join(to, directory), { recursive: true });
    cpSync(join(ROOT, directory), join(to, directory), { recursive: true, filter: (path) => !REAL.test(path) });
  }
}

/** B1: fails loudly where the text does not stand there exactly once. */
export function apply(to: string, { file, from, to: text }: Change): void {
  const path = join(to, file);
  const parts = readFileSync(path, "utf8").split(from);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times, not once: ${from}`);
  writeFileSync(path, parts.join(text));
}
