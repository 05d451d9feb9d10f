#!/usr/bin/env bun
// Runs one of the checks, in this tree or in a copy of it with a deliberate bug: `bun tests/bugs/check.ts "crash sweep"`.
// The last line of stdout says how it ended: `survived N`, or `broken: …` for a broken promise (exit 3). Anything else that goes wrong is
// no catch: it goes to stderr, exit 70.
import { CHECKS, isBrokenPromise, rootOf } from "./checks.ts";

async function main(name: string | undefined): Promise<number> {
  const check = Object.entries(CHECKS).find(([known]) => known === name)?.[1];
  if (check === undefined) {
    console.error(`usage: check.ts <${Object.keys(CHECKS).join(" | ")}>`);
    return 2;
  }
  try {
    console.log(`survived ${await check()}`);
    return 0;
  } catch (error) {
    const root = rootOf(error);
    if (!isBrokenPromise(root)) {
      console.error(error);
      return 70;
    }
    console.log(`broken: ${root.message}`);
    return 3;
  }
}

process.exit(await main(process.argv[2]));
