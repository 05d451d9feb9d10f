// Crash at every call: a life is recorded once, with the disk as it stood before each call that follows a change; then
// each of these moments is a crash, with every ending the disk allows. After each the log is recovered, checked,
// written to and checked again.

import { readWhole } from "../../../src/log/file/file.ts";
import type { LogOptions } from "../../../src/log/log-options.ts";
import { scanSegment } from "../../../src/log/wal/segment-scan.ts";
import type { SimDisk } from "../disk.ts";
import type { Call } from "../faults.ts";
import { sampleOf } from "../fuzz/profile.ts";
import type { SimRandom } from "../random.ts";
import { nothing, randomSurvivor, survivors } from "../survive.ts";
import { Life, type Memory, SMALL, type Step } from "./life.ts";
import { BrokenPromise, ensure } from "./oracle.ts";

export type Moment = { readonly disk: SimDisk; readonly memory: Memory; readonly before: Call };

export type SweepOptions = {
  readonly random: SimRandom;
  /** Random endings (torn, sectors, zeros) for each moment, beside the enumerated ones. */
  readonly randomEndings: number;
  /** In the gate, one in so many power cuts of each moment; all if not given. A kill is always tried. */
  readonly gateOneIn?: number;
  /** One in so many recoveries is itself crashed at every call. */
  readonly nestOneIn: number;
  readonly log?: LogOptions;
};

const LOOKS_ONLY = new Set(["size", "read", "stat", "list", "close", "tryLock", "free"]);

/** Every state the disk goes through while `live` runs on it. */
export async function moments(disk: SimDisk, memory: () => Memory, live: () => Promise<void>): Promise<Moment[]> {
  const found: Moment[] = [];
  let changed = true;
  disk.onCall = (call) => {
    const now = memory();
    if (changed) found.push({ disk: disk.fork(), memory: { ...now, issued: now.issued.slice() }, before: call });
    changed = !LOOKS_ONLY.has(call.operation);
  };
  await live();
  disk.onCall = undefined;
  const now = memory();
  const end: Call = { index: disk.calls + 1, operation: "close", path: "the end", length: 0 };
  found.push({ disk: disk.fork(), memory: { ...now, issued: now.issued.slice() }, before: end });
  return found;
}

/** The disks that a crash at this moment, which is the one with this number, can leave. */
function* endings({ disk }: Moment, turn: number, options: SweepOptions): Generator<SimDisk> {
  yield disk.processKill();
  const { random, randomEndings, gateOneIn = 1 } = options;
  const some = Array.from({ length: randomEndings }, () => randomSurvivor(random));
  const cuts = sampleOf([...survivors(disk.pending(), 4), ...some], gateOneIn, turn);
  for (const choose of cuts) yield disk.powerCut(choose);
}

/** Lives one life through `steps`, crashing it at every call; returns how many crashes were survived. */
export async function sweep(
  steps: readonly Step[],
  disk: SimDisk,
  memory: Memory,
  options: SweepOptions,
): Promise<number> {
  let life: Life | undefined;
  const found = await moments(
    disk,
    () => life?.memory ?? memory,
    async () => {
      life = await Life.begin(disk, memory, options.log ?? SMALL);
      await life.perform(steps);
    },
  );
  let survived = 0;
  for (const [turn, moment] of found.entries()) {
    for (const ending of endings(moment, turn, options)) {
      const nest = options.nestOneIn > 0 && options.random.int(options.nestOneIn) === 0;
      survived += await named(moment, () =>
        nest ? nested(ending, moment.memory, options) : survive(ending, moment.memory, options),
      );
    }
  }
  return survived;
}

async function named(moment: Moment, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const { index, operation, path } = moment.before;
    throw new BrokenPromise(`crash before call ${index} (${operation} ${path}): ${String(error)}`, { cause: error });
  }
}

/**
 * Recover and check; lose everything that is only in the page cache and check that what the recovery showed is still
 * there; write again; lose everything that was not synced; recover and check once more.
 */
async function survive(disk: SimDisk, memory: Memory, { log = SMALL, random }: SweepOptions): Promise<number> {
  const before = disk.fork();
  const life = await Life.begin(disk, memory, log);
  const nothingTorn = async () => {
    const { report } = (await Life.begin(disk.powerCut(nothing), life.memory, log)).log;
    const torn = report.torn.filter((path) => path.endsWith(".wal") && !isHidden(before, path, life));
    ensure(torn.length === 0, `all was synced, but ${torn} is reported as torn`);
  };
  if (random.chance(0.25)) await nothingTorn();
  await life.perform(SECOND_LIFE);
  if (life.memory.acknowledged !== life.memory.issued.length) throw new BrokenPromise("the second life can write");
  await nothingTorn();
  return 1;
}

/**
 * Whether this recovery could not see that a segment is torn, because one before it was killed while it made the
 * segment new, and what it had written was only in the page cache. What a recovery does see is not reported again.
 */
function isHidden(before: SimDisk, path: string, { log: { report } }: Life): boolean {
  const bytes = readWhole(before.powerCut(nothing), path) ?? new Uint8Array(0);
  return !report.torn.includes(path) && scanSegment(bytes).bad.length > 0;
}

const SECOND_LIFE: readonly Step[] = [
  { kind: "append", sessions: [1, 2], size: 40 },
  { kind: "append", sessions: [7], size: 10 },
  { kind: "await" },
];

/** The recovery itself is crashed at every call, and each of these crashes must be survived too. */
async function nested(disk: SimDisk, memory: Memory, options: SweepOptions): Promise<number> {
  const found = await moments(
    disk,
    () => memory,
    async () => void (await Life.begin(disk, memory, options.log ?? SMALL)),
  );
  let survived = 0;
  for (const moment of found) {
    const ending = options.random.chance(0.3)
      ? moment.disk.processKill()
      : moment.disk.powerCut(randomSurvivor(options.random));
    survived += await named(moment, () => survive(ending, memory, options));
  }
  return survived;
}
