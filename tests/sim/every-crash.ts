// Crash at every call, for anything that lives on a disk: `live` runs once and is watched; then each moment before a
// call that changes something is a crash, with every ending the simulated disk allows, and each write is also cut in
// the middle.
// Of a story that takes long the gate tries a kill at every moment, and a sample of the power cuts and cut writes.
import type { SimDisk } from "./disk.ts";
import { Crashed } from "./faults.ts";
import { sampleOf, seeded } from "./fuzz/profile.ts";
import { randomSurvivor, survivors } from "./survive.ts";

/** `live` reports what has been promised so far; `check` gets the last report before the crash. */
export type Story<M> = {
  readonly start: SimDisk;
  readonly nothingPromised: M;
  /** Of each moment, beside those that are tried in any case. */
  readonly randomEndings?: number;
  /** Whether the gate tries one in `GATE_ONE_IN` of the power cuts of each moment, and of the cut writes. */
  readonly takesLong?: boolean;
  readonly live: (disk: SimDisk, promised: (memory: M) => void) => Promise<void>;
  readonly check: (disk: SimDisk, memory: M) => Promise<void>;
};

type Moment<M> = { readonly disk: SimDisk; readonly memory: M; readonly before: string };

const LOOKS_ONLY = new Set(["size", "read", "stat", "list", "close", "tryLock", "free"]);
const ENUMERATE_UP_TO = 6;
const RANDOM_ENDINGS = 20;
const GATE_ONE_IN = 12;

/** Returns how many crashes were survived. */
export async function everyCrash<M>(story: Story<M>): Promise<number> {
  const random = seeded(4);
  const some = <T>(all: readonly T[], turn: number) =>
    story.takesLong === true ? sampleOf(all, GATE_ONE_IN, turn) : all;
  const { moments, writes } = await watch(story);
  let survived = 0;
  const check = async (disk: SimDisk, { memory, before }: Moment<M>): Promise<void> => {
    try {
      await story.check(disk, memory);
    } catch (error) {
      throw new Error(`crash ${survived}, before ${before}: ${String(error)}`, { cause: error });
    }
    survived += 1;
  };
  for (const [turn, moment] of moments.entries()) {
    await check(moment.disk.processKill(), moment);
    const chosen = [...survivors(moment.disk.pending(), ENUMERATE_UP_TO)];
    for (let i = 0; i < (story.randomEndings ?? RANDOM_ENDINGS); i += 1) chosen.push(randomSurvivor(random));
    for (const choose of some(chosen, turn)) await check(moment.disk.powerCut(choose), moment);
  }
  for (const index of some(writes, 0)) {
    const moment = await cutWrite(story, index);
    await check(moment.disk.processKill(), moment);
  }
  return survived;
}

async function watch<M>(story: Story<M>): Promise<{ moments: Moment<M>[]; writes: number[] }> {
  const disk = story.start.fork();
  const moments: Moment<M>[] = [];
  const writes: number[] = [];
  let memory = story.nothingPromised;
  let changed = true;
  disk.onCall = ({ operation, path, index }) => {
    if (changed) moments.push({ disk: disk.fork(), memory, before: `${operation} ${path}` });
    changed = !LOOKS_ONLY.has(operation);
    if (operation === "write") writes.push(index);
  };
  await story.live(disk, (now) => {
    memory = now;
  });
  disk.onCall = undefined;
  moments.push({ disk: disk.fork(), memory, before: "the end" });
  return { moments, writes };
}

/** The same life, killed in the middle of the write that is call `index`. */
async function cutWrite<M>(story: Story<M>, index: number): Promise<Moment<M>> {
  const disk = story.start.fork();
  let memory = story.nothingPromised;
  disk.fault = (call) => (call.index === index ? { kind: "crash", bytes: call.length >> 1 } : undefined);
  try {
    await story.live(disk, (now) => {
      memory = now;
    });
  } catch (error) {
    if (!(error instanceof Crashed)) throw error;
  }
  if (disk.fired.length !== 1) throw new Error(`the crash at write ${index} never came`);
  return { disk, memory, before: `the middle of write ${index}` };
}
