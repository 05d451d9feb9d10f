// The checks that catch the deliberate bugs: small, seeded, and stopping at the first broken promise. Each returns how
// much it tried. They use the crash sweep, the oracle and the simulated disk of tests/sim; two fault sweeps and bit rot
// are added here.
import { isFault } from "../../src/base/fault.ts";
import { type CheckpointOptions, CheckpointStore } from "../../src/log/checkpoint/store.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import type { Call, FaultChoice } from "../sim/faults.ts";
import { idOf, type Script } from "../sim/holdfast/script.ts";
import { heedUnhandled, live } from "../sim/holdfast/sweep.ts";
import { journalCrashes } from "../sim/journal-life.ts";
import { HISTORIES } from "../sim/log/histories.ts";
import { HOME, Life, type Memory, SMALL, type Step } from "../sim/log/life.ts";
import { BrokenPromise, ensure } from "../sim/log/oracle.ts";
import { type Moment, moments, sweep } from "../sim/log/sweep.ts";
import { SimRandom } from "../sim/random.ts";
import { nothing, SECTOR, type Survival, survivors } from "../sim/survive.ts";
import { AGENT_CHECKS } from "./agent-checks.ts";
import { FLEET_CHECKS } from "./fleet-checks.ts";

export const CHECKS = {
  "crash sweep": crashSweep,
  "crash sweep inside recovery": recoverySweep,
  "torn batch sweep": tornBatches,
  "failed sync sweep": failedSyncs,
  "short write sweep": shortWrites,
  "bit rot in the log": rotInLog,
  "checkpoint crash sweep": checkpointCrashes,
  "bit rot in a checkpoint": rotInCheckpoint,
  "journal crash sweep": journalCrashes,
  ...AGENT_CHECKS,
  ...FLEET_CHECKS,
  "fleet: a run is taken over": takenOver,
} as const satisfies Readonly<Record<string, () => Promise<number>>>;

export type CheckName = keyof typeof CHECKS;

const nothingYet = (): Memory => ({ issued: [], acknowledged: 0 });

function history(name: string): readonly Step[] {
  const steps = HISTORIES[name];
  if (steps === undefined) throw new Error(`there is no history "${name}"`);
  return steps;
}

/** Enough of them that whole lines are left behind what the next life writes into the same segment. */
const MANY_SMALL: readonly Step[] = Array.from({ length: 7 }, (_, i): Step[] => [
  { kind: "append", sessions: [i % 2], size: 5 },
  { kind: "await" },
]).flat();

/** A step that must not run twice without consent, taken over by another host around its effect. */
async function takenOver(): Promise<number> {
  heedUnhandled();
  const id = idOf(1);
  const work = { kind: "shell", command: "work ok" } as const;
  const definition = { name: "one", flow: { mode: "standard", steps: [{ id: "one", work }] } } as const;
  const wish = { kind: "run", id, definition, items: [] } as const;
  const { moments: calm } = await live([wish]);
  const effect = calm.indexOf("the effect is there");
  for (const after of [effect, effect + 1, effect + 2]) {
    const { runs } = await lived([wish, { kind: "taken", after }]);
    ensure(runs[id]?.consents.length === 1, `nobody was asked about a step that was taken over at ${after}`);
  }
  return calm.length;
}

async function lived(script: Script) {
  try {
    return await live(script);
  } catch (error) {
    throw new BrokenPromise(error instanceof Error ? error.message : String(error));
  }
}

/** Every call of four histories; see tests/sim/log/sweep.ts. */
async function crashSweep(): Promise<number> {
  const random = new SimRandom(7);
  let survived = 0;
  for (const name of ["one batch of transactions over two sessions", "batch after batch, drained in between"])
    survived += await sweep(history(name), new SimDisk(), nothingYet(), { random, randomEndings: 6, nestOneIn: 0 });
  for (const steps of [history("segments filled and used again"), MANY_SMALL])
    survived += await sweep(steps, new SimDisk(), nothingYet(), { random, randomEndings: 0, nestOneIn: 0 });
  return survived;
}

/** The last moments of a short history: a batch is written, then synced. */
const LAST_MOMENTS = 8;

/**
 * A kill at each of them; then the power is cut at every call of the recovery, with every subset of whole operations
 * surviving.
 */
async function recoverySweep(): Promise<number> {
  const disk = new SimDisk();
  let life: Life | undefined;
  const lived = await moments(
    disk,
    () => life?.memory ?? nothingYet(),
    async () => {
      life = await Life.begin(disk, nothingYet());
      await life.perform(history("one batch of transactions over two sessions"));
    },
  );
  let survived = 0;
  for (const { disk: left, memory } of lived.slice(-LAST_MOMENTS)) {
    const killed = left.processKill();
    const recovery = await moments(
      killed,
      () => memory,
      async () => void (await Life.begin(killed, memory)),
    );
    for (const moment of recovery) survived += await cutInRecovery(moment);
  }
  return survived;
}

async function cutInRecovery({ disk, memory }: Moment): Promise<number> {
  let survived = 0;
  for (const choose of survivors(disk.pending(), 4)) {
    await Life.begin(disk.powerCut(choose), memory);
    survived += 1;
  }
  return survived;
}

const BATCH: readonly Step[] = Array.from(
  { length: 6 },
  (_, i): Step => ({ kind: "append", sessions: [i % 2, 2], size: 5 }),
);

/**
 * A batch that was written and not synced, with every set of its sectors, and cut at every byte. Later lives write
 * again.
 */
async function tornBatches(): Promise<number> {
  const life = await Life.begin(new SimDisk(), nothingYet());
  let unsynced: SimDisk | undefined;
  life.disk.onCall = ({ operation }) => {
    if (operation === "datasyncBlocking") unsynced ??= life.disk.fork();
  };
  await life.perform([...BATCH, { kind: "await" }]);
  const write = unsynced?.pending().find((op) => op.kind === "write");
  if (unsynced === undefined || write?.kind !== "write") throw new Error("there is no batch to tear");
  const parts = [...everySectors(write.bytes.length), ...everyCut(write.bytes.length)];
  for (const part of parts) {
    const next = await Life.begin(
      unsynced.powerCut((op) => (op.seq === write.seq ? part : { kind: "absent" })),
      nothingOf(life.memory),
    );
    await next.perform([...BATCH, { kind: "await" }]);
    await Life.begin(next.disk.powerCut(nothing), next.memory);
  }
  return parts.length;
}

/** The same transactions, none of them acknowledged. */
function nothingOf({ issued }: Memory): Memory {
  return { issued, acknowledged: 0 };
}

function everySectors(length: number): Survival[] {
  const sectors = Math.ceil(length / SECTOR) + 1;
  return Array.from(
    { length: 2 ** sectors },
    (_, set): Survival => ({ kind: "sectors", keep: (sector) => ((set >> sector) & 1) === 1, extend: false }),
  );
}

function everyCut(length: number): Survival[] {
  return Array.from({ length }, (_, bytes): Survival => ({ kind: "torn", bytes }));
}

const FAULTY: readonly Step[] = [
  { kind: "append", sessions: [1, 2], size: 100 },
  { kind: "await" },
  { kind: "drain" },
  { kind: "append", sessions: [1, 3], size: 30 },
  { kind: "append", sessions: [2], size: 300 },
  { kind: "await" },
  { kind: "drain" },
  { kind: "append", sessions: [3], size: 20 },
  { kind: "await" },
];

/**
 * The first, the second, the third … sync fails: nothing that was acknowledged may be missing once the power has been
 * cut.
 */
function failedSyncs(): Promise<number> {
  const isSync = ({ operation }: Call) => /sync/i.test(operation);
  return faultSweep((call) => (isSync(call) ? { kind: "fail", code: "EIO" } : undefined));
}

/** The first, the second, the third … write accepts only half of its bytes. */
function shortWrites(): Promise<number> {
  return faultSweep(({ operation, length }) =>
    operation === "write" && length > 1 ? { kind: "short", bytes: length >> 1 } : undefined,
  );
}

/** Lives once for each call that `choose` has a fault for, with that one fault; returns how many there were. */
async function faultSweep(choose: (call: Call) => FaultChoice | undefined): Promise<number> {
  for (let wanted = 1; ; wanted += 1) {
    let seen = 0;
    const disk = new SimDisk();
    disk.fault = (call) => {
      const choice = choose(call);
      if (choice !== undefined) seen += 1;
      return seen === wanted ? choice : undefined;
    };
    const memory = await liveOn(disk);
    if (disk.fired.length === 0) return wanted - 1;
    await Life.begin(disk.powerCut(nothing), memory);
    await Life.begin(disk.processKill(), memory);
  }
}

/** Lives until the disk fails; what was promised until then counts. */
async function liveOn(disk: SimDisk): Promise<Memory> {
  let life: Life | undefined;
  try {
    life = await Life.begin(disk, nothingYet());
    await life.perform(FAULTY);
  } catch (error) {
    if (!isFault(error)) throw error;
  }
  return life?.memory ?? nothingYet();
}

/**
 * One bit after the other of the log, in the write-ahead log and in session logs: it is reported, or the line is
 * rejected.
 */
async function rotInLog(): Promise<number> {
  const life = await Life.begin(new SimDisk(), nothingYet());
  await life.perform([
    { kind: "append", sessions: [1, 2], size: 60 },
    { kind: "await" },
    { kind: "drain" },
    { kind: "append", sessions: [1], size: 60 },
    { kind: "append", sessions: [2, 3], size: 60 },
    { kind: "await" },
  ]);
  let flipped = 0;
  for (const path of everyFile(life.disk, HOME)) {
    for (const at of padsIn(life.disk.peek(path))) {
      const disk = life.disk.powerCut(nothing);
      disk.rot(path, at, 1);
      await believesNothingFalse(disk, `${path} at ${at}`);
      flipped += 1;
    }
  }
  return flipped;
}

async function believesNothingFalse(disk: SimDisk, where: string): Promise<void> {
  const log = await EventLog.open({ disk, clock: new SimClock(), home: HOME }, SMALL);
  for (const session of log.sessions) {
    for (const reading of log.read(session)) {
      if (reading.kind !== "entry") continue;
      const pad = JSON.stringify(reading.entry.data).replaceAll("x", "");
      ensure(
        /^\{"id":\d,"pad":""\}$/.test(pad),
        `a flipped bit in ${where} is not believed, but ${session} has ${pad}`,
      );
    }
  }
}

function* everyFile(disk: SimDisk, directory: string): Generator<string> {
  for (const name of disk.list(directory)) {
    const path = `${directory}/${name}`;
    if (disk.stat(path)?.kind === "directory") yield* everyFile(disk, path);
    else yield path;
  }
}

/** The middle of each run of x's. */
function padsIn(bytes: Uint8Array | undefined): number[] {
  const text = Buffer.from(bytes ?? []).toString("latin1");
  return [...text.matchAll(/x{20,}/g)].map((match) => match.index + 10);
}

const DIRECTORY = `${HOME}/a/sessions`;
const STORE: CheckpointOptions = {
  home: HOME,
  path: `${DIRECTORY}/checkpoint.json`,
  kind: "check",
  version: 1,
  fold: 1,
  keep: { backup: `${DIRECTORY}/checkpoint.backup.json` },
};

const storeOn = (disk: SimDisk) => new CheckpointStore(disk, new SimClock(), STORE);
/** More than a sector, so that a torn write shows. */
const bodyOf = (seq: number) => ({ seq, filler: "x".repeat(1500) });

function emptyHome(): SimDisk {
  const disk = new SimDisk();
  disk.plant(`${HOME}/other`, new Uint8Array());
  return disk;
}

/** Each call of three saves; then a second life saves again. */
async function checkpointCrashes(): Promise<number> {
  const live = async (disk: SimDisk, promised: (seq: number) => void) => {
    const store = storeOn(disk);
    for (const seq of [1, 2, 3]) {
      await store.save(bodyOf(seq), seq);
      promised(seq);
    }
  };
  const check = async (disk: SimDisk, promised: number) => {
    const seq = newestOn(disk);
    ensure(seq >= promised, `checkpoint ${promised} was promised, the newest is ${seq}`);
    await storeOn(disk).save(bodyOf(100), 100);
    const after = newestOn(disk.powerCut(nothing));
    ensure(after === 100, `checkpoint 100 was promised, the newest is ${after}`);
  };
  return everyCrash({ start: emptyHome(), nothingPromised: 0, live, check });
}

/** 0 if there is none; an incomplete one is a broken promise. */
function newestOn(disk: SimDisk): number {
  const loaded = storeOn(disk).load();
  ensure(
    loaded.kind !== "refused" && loaded.problems.length === 0,
    `the checkpoint is whole, but ${JSON.stringify(loaded)}`,
  );
  if (loaded.kind === "none") return 0;
  const { seq, body } = loaded.checkpoint;
  ensure(
    JSON.stringify(body) === JSON.stringify(bodyOf(seq)),
    `the checkpoint is what was saved, but ${JSON.stringify(body)}`,
  );
  return seq;
}

/** One bit after the other of the primary: the backup is used, and the reason reported. */
async function rotInCheckpoint(): Promise<number> {
  const start = emptyHome();
  for (const seq of [1, 2]) await storeOn(start).save(bodyOf(seq), seq);
  const { length } = start.peek(STORE.path) ?? [];
  if (length === undefined || length < 1500) throw new Error("there is no checkpoint to rot");
  for (let at = 0; at < length; at += 1) {
    const disk = start.fork();
    disk.rot(STORE.path, at, 1);
    const loaded = storeOn(disk).load();
    const fell = loaded.kind === "loaded" && loaded.checkpoint.seq === 1 && loaded.problems.length === 1;
    ensure(fell, `a flipped bit at ${at} is not believed, but ${JSON.stringify(loaded).slice(0, 100)}`);
  }
  return length;
}

/** The root cause of an error: the sweeps wrap it in where it happened. */
export function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error;
}

export function isBrokenPromise(error: unknown): error is BrokenPromise {
  return error instanceof BrokenPromise;
}
