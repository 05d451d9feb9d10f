// The laboratory of the mutants: a copy of the tree in which one file at a time is changed, and one ordinary test is
// run.
// L1. A copy, not a plugin: a test may start our programs, also built ones, and the change must be in those too. No
//     hard links: a new link changes the time by which a bundle is known to be current (BU1 of src/world/built.ts).
// L2. A mutant is killed if the named test fails with an assertion. A file that cannot be loaded, a test that did not
//     run and one that ran out of time kill nothing.
// L3. Without a mutant the same test passes in the same copy.
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, readText } from "../../scripts/files.ts";
import { hasPassed, parseJunit, type Report } from "../../scripts/junit.ts";
import { withBug } from "../bugs/plant.ts";
import type { Killer, Mutant } from "./mutant.ts";

const COPIED = ["src", "tests", "scripts", "examples", "docs", "holdfast", "package.json", "tsconfig.json"];
const REPORT = "report.xml";
/** Killers take milliseconds, some a few seconds; the machine may be busy. */
const TIMEOUT_MS = 60_000;

/** That of a test: our own assertions (src/base/assert.ts) have the same name. */
const ASSERTION = /^AssertionError: expect\(/;

export class Lab {
  readonly #root = mkdtempSync(join(tmpdir(), "holdfast-mutants-"));

  constructor() {
    for (const name of COPIED) cpSync(join(ROOT, name), join(this.#root, name), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(this.#root, "node_modules"));
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  /** L3. Returns the names of those, all in one file, that do not pass without a mutant. */
  async failing(file: string, killers: readonly Killer[]): Promise<string[]> {
    const report = await this.#test(file, killers);
    return killers.map(({ test }) => test).filter((name) => !hasPassed(report, { path: file, name, ms: 0 }));
  }

  /** L2. Returns "killed", or what happened instead. */
  async fateOf(mutant: Mutant): Promise<string> {
    const path = join(this.#root, mutant.file);
    writeFileSync(path, withBug(mutant.file, [mutant]));
    try {
      return fateIn(await this.#test(mutant.killedBy.file, [mutant.killedBy]), mutant.killedBy);
    } finally {
      writeFileSync(path, readText(mutant.file));
    }
  }

  async #test(file: string, killers: readonly Killer[]): Promise<Report> {
    const pattern = killers.map(({ test }) => RegExp.escape(test.replaceAll(" > ", " "))).join("|");
    const argv = [process.execPath, "test", `./${file}`, "-t", `^(?:${pattern})$`, `--timeout=${TIMEOUT_MS}`];
    argv.push("--reporter=junit", `--reporter-outfile=${REPORT}`);
    // Fixed: a mutant is killed every time. Nothing is counted in the copy.
    const env = { ...process.env, HOLDFAST_SEED: "1", HOLDFAST_FUZZ: "ci", HOLDFAST_COUNTING: undefined };
    rmSync(join(this.#root, REPORT), { force: true });
    await Bun.spawn(argv, { cwd: this.#root, env, stdio: ["ignore", "ignore", "ignore"] }).exited;
    const report = Bun.file(join(this.#root, REPORT));
    return parseJunit((await report.exists()) ? await report.text() : "");
  }
}

function fateIn(report: Report, { test, says = ASSERTION }: Killer): string {
  const failed = report.failed.find(({ name }) => name === test);
  if (failed !== undefined) return says.test(failed.why) ? "killed" : `it failed otherwise: ${failed.why}`;
  return report.passed.some(({ name }) => name === test) ? "survived" : "the test did not run";
}
