// A place of our own for the drills of a test: others may run drills as well. When the test is done, all that took
// place here is gone.
import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { identify } from "../../src/world/process.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { removeHomes } from "../cli/homes.ts";

const processes = realProcesses();

/** Every process of a drill that takes place in `place`. */
export function processesIn(place: string): number[] {
  return processes.list().flatMap(({ pid }) => {
    return processes.variable(pid, "HOLDFAST_DRILL")?.startsWith(place) === true ? pid : [];
  });
}

/** Short, since sockets are made below it. */
export function drillPlace(): string {
  const place = mkdtempSync("/tmp/hft-");
  afterAll(() => {
    // Only a drill that failed its test leaves any; they heal each other while one lives.
    for (let left = processesIn(place); left.length > 0; left = processesIn(place)) {
      for (const who of left.flatMap((pid) => identify(processes, pid) ?? [])) processes.kill(who, "SIGKILL");
    }
    removeHomes();
    rmSync(place, { recursive: true, force: true });
  });
  return place;
}
