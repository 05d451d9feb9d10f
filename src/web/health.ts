// How this home is: its disk, its log, its holders, and the memory of its programs. Read from the system when a page
// asks, so it is known while the daemon is down, and costs nothing while nobody looks.
// WH1. However many pages ask, the work is done once in a while: the answers in between are those of the last time.
// WH2. The cost depends on what runs, and not on history: files are counted up to a limit, and in pieces, so that the
//      keys of a terminal do not wait for it.
import { diskUsageWithin } from "../home/disk-usage.ts";
import { HOLDER_PROGRAMS } from "../home/layout.ts";
import { roomFor } from "../home/room.ts";
import { runningOn } from "../home/running.ts";
import { WAL_DIRECTORY } from "../log/session/places.ts";
import type { ProgramHealth, WebHealth, WebUsage } from "../wire/page/messages.ts";
import { PROGRAMS } from "../world/built.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Machine } from "../world/machine.ts";
import type { Processes } from "../world/process.ts";
import { once } from "./once.ts";

export type HealthWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly processes: Processes;
  readonly machine: Machine;
  readonly home: string;
};

/** WH1 */
const HEALTH_MS = 2_000;
const USAGE_MS = 60_000;
/** WH2. A second or so on a slow disk; `holdfast usage disk` counts all. */
const MAX_FILES = 20_000;
/** WH2. Each is some system calls. */
const PROCESSES_AT_ONCE = 32;

export type Health = { now(): Promise<WebHealth>; usage(): Promise<WebUsage> };

export function healthOf(world: HealthWorld): Health {
  const { disk, clock, home } = world;
  const rest = () => new Promise<void>((done) => clock.soon(done));
  return {
    now: once(clock, HEALTH_MS, () => look(world, rest)),
    usage: once(clock, USAGE_MS, () => diskUsageWithin(disk, home, { most: MAX_FILES, rest })),
  };
}

async function look(world: HealthWorld, rest: () => Promise<void>): Promise<WebHealth> {
  const { clock, disk, machine, home } = world;
  const freeBytes = disk.free(home);
  const files = machine.freeInodes(home);
  const system = machine.fileSystem(home);
  const holders = await holdersOf(world, rest);
  return {
    at: new Date(clock.now()).toISOString(),
    disk: {
      freeBytes,
      freeFiles: files ?? null,
      fileSystem: system === undefined ? null : `${system.type} on ${system.mount}`,
      room: roomFor(freeBytes, files),
    },
    log: logOf(disk, home),
    programs: programsOf(world),
    holders: { many: holders.length, memory: await memoryOf(world, holders, rest) },
  };
}

/** A segment that is drained between two calls is gone. */
function logOf(disk: Disk, home: string): WebHealth["log"] {
  const wal = `${home}/${WAL_DIRECTORY}`;
  const names = disk.list(wal);
  return { files: names.length, bytes: names.reduce((sum, name) => sum + (disk.stat(`${wal}/${name}`)?.size ?? 0), 0) };
}

function programsOf(world: HealthWorld): ProgramHealth[] {
  return Object.entries(runningOn(world, world.home)).map(([name, owner]) => ({
    name,
    pid: owner?.pid ?? null,
    memory: (owner && world.machine.memory(owner.pid)) ?? null,
  }));
}

/** By their arguments: those that nobody knows any more are found as well. */
async function holdersOf({ processes, home }: HealthWorld, rest: () => Promise<void>): Promise<number[]> {
  const found: number[] = [];
  for (const [at, { pid }] of processes.list().entries()) {
    if (at % PROCESSES_AT_ONCE === 0) await rest();
    if (isHolder(home, processes.kin(pid)?.argv ?? [])) found.push(pid);
  }
  return found;
}

/** From the home's copy of the program, or from the sources; the last word is what it holds. */
function isHolder(home: string, argv: readonly string[]): boolean {
  if (argv.some((word) => word.startsWith(`${home}/${HOLDER_PROGRAMS}/`))) return true;
  const isOurs = `${argv.at(-1)}/`.startsWith(`${home}/`);
  return isOurs && argv.some((word) => word.endsWith(PROGRAMS.holder) || word.endsWith(PROGRAMS.orders));
}

async function memoryOf({ machine }: HealthWorld, pids: readonly number[], rest: () => Promise<void>): Promise<number> {
  let sum = 0;
  for (const pid of pids) {
    sum += machine.memory(pid) ?? 0;
    await rest();
  }
  return sum;
}
