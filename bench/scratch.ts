// A directory for one run, on a disk on which a sync has an effect. However the run ends, it is removed afterwards, and
// so is every process that was started in it.
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { killAllOf } from "./processes.ts";
import type { Effort } from "./rounds.ts";

/**
 * What a suite gets. `quick` asks whether it runs at all, not how fast. `root` is the installation that is measured;
 * this one unless it is set.
 */
export type Bench = Effort & { readonly directory: string; readonly quick: boolean; readonly root?: string };

const TMPFS = 0x01021994;
/** A quiet machine is below it. */
const BUSY = 0.7;
const PREFIX = "holdfast-bench-";

export function startBench(quick: boolean): Bench {
  const directory = mkdtempSync(join(process.env["HOLDFAST_BENCH_DIR"] ?? tmpdir(), PREFIX));
  process.on("exit", () => {
    killAllOf(directory);
    rmSync(directory, { recursive: true, force: true });
  });
  process.on("SIGINT", () => process.exit(130));
  process.on("SIGTERM", () => process.exit(143));
  if (statfsSync(directory).type === TMPFS) {
    say(`notice: ${directory} is a tmpfs, where a sync costs nothing: no figure that has a sync in it means anything.`);
    say("        Set HOLDFAST_BENCH_DIR to a directory on a disk.");
  }
  const [load = 0] = loadavg();
  if (load > BUSY) say(`notice: others use this machine (load ${load.toFixed(1)}): absolute times will be too long.`);
  const effort = quick ? { rounds: 2, seconds: 0.1 } : { rounds: 7, seconds: 1 };
  return { directory, quick, ...effort, say };
}

/** A new empty directory below the run's own. */
export function makePlace(bench: Pick<Bench, "directory">, name: string): string {
  const path = join(bench.directory, name);
  mkdirSync(path, { recursive: true });
  return path;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
