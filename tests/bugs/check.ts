#!/usr/bin/env bun
// Runs one of the checks on the sources as they are, or with a deliberate bug: `bun tests/bugs/check.ts "crash sweep"
// "dedupe off"`. The last line of stdout says how it ended: `survived N`, or `broken: …` for a broken promise (exit 3).
// Any other failure does not count as a catch: it goes to stderr, exit 70.
import { BUGS } from "./bugs.ts";
import { plant } from "./plant.ts";

async function main(name: string | undefined, bug: string | undefined): Promise<number> {
  const planted = BUGS.find((known) => known.bug === bug);
  if (planted !== undefined) plant(planted.changes);
  // Not earlier: its imports must have the bug.
  const { CHECKS, isBrokenPromise, rootOf } = await import("./checks.ts");
  const check = Object.entries(CHECKS).find(([known]) => known === name)?.[1];
  if (check === undefined || (bug !== undefined && planted === undefined)) {
    console.error(`usage: check.ts <${Object.keys(CHECKS).join(" | ")}> [one of the bugs of bugs.ts]`);
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

process.exit(await main(process.argv[2], process.argv[3]));
