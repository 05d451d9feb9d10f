// The world: one value with all access to the outside, passed to a program so that a test can pass another.
import type { Clock } from "./clock.ts";
import type { Disk } from "./disk.ts";
import type { Processes } from "./process.ts";
import type { Random } from "./random.ts";
import { realClock } from "./real/clock.ts";
import { realDisk } from "./real/disk.ts";
import { realProcesses } from "./real/process.ts";
import { realRandom } from "./real/random.ts";

export type World = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly processes: Processes;
};

export function realWorld(): World {
  return { disk: realDisk(), clock: realClock(), random: realRandom(), processes: realProcesses() };
}
