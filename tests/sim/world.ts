// One seed, one world: disk, clock, random and processes, all in memory.
import type { World } from "../../src/world/world.ts";
import { SimClock } from "./clock.ts";
import { SimDisk } from "./disk.ts";
import { SimProcesses } from "./processes.ts";
import { SimRandom } from "./random.ts";
import type { Chooser } from "./survive.ts";

export type SimWorld = World & {
  readonly disk: SimDisk;
  readonly clock: SimClock;
  readonly random: SimRandom;
  readonly processes: SimProcesses;
};

export function simWorld(seed: number, disk = new SimDisk()): SimWorld {
  return { disk, clock: new SimClock(), random: new SimRandom(seed), processes: new SimProcesses() };
}

/**
 * The world the next process finds after SIGKILL: time, chance and the process table continue, and it has another pid.
 */
export function afterKill(world: SimWorld): SimWorld {
  world.processes.restart();
  return { ...world, disk: world.disk.processKill() };
}

/** The world after a power cut: another boot, and of the disk what `choose` leaves. */
export function afterPowerCut(world: SimWorld, choose: Chooser): SimWorld {
  world.processes.reboot();
  return { ...world, disk: world.disk.powerCut(choose) };
}
