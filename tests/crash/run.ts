// `exercise run`: drives the whole core on the real disk, and says of each thing that it is durable only when it is.
// R1. Transaction ids are given out at the moment of `append`, which numbers at once: the order of ids is the order of
//     the log.
// R2. What happens beside the log (tape, checkpoints, draining) hangs on the ids, never on time.
// R3. The first failure ends the run: nothing in progress is acknowledged.

import { parentOf } from "../../src/base/path.ts";
import type { Refusal } from "../../src/base/result.ts";
import { EventLog, type Ticket } from "../../src/log/event-log.ts";
import { makeDirectories } from "../../src/log/file/file.ts";
import { takeLock } from "../../src/log/file/lock.ts";
import { Tape } from "../../src/log/tape/tape.ts";
import { identify } from "../../src/world/process.ts";
import type { World } from "../../src/world/world.ts";
import type { Ack } from "./acks.ts";
import { checkpointBody, tapeBytes, tapeLength, transaction } from "./content.ts";
import { LOG, lockPath, STORES, type StoreName, storeOf, TAPE, tapePath, WRITERS } from "./home.ts";

export type RunOptions = { readonly home: string; readonly events: number; readonly seed: number };

/** `tell` prints an acknowledgement, `say` words for people. */
export type Voice = { readonly tell: (ack: Ack) => void; readonly say: (words: string) => void };

/** An expected refusal that ends the run, for example a log that stopped or a directory in use. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly hint: string;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.hint = refusal.hint;
  }
}

export async function run(world: World, options: RunOptions, voice: Voice): Promise<void> {
  const lock = lockHome(world, options.home);
  voice.say("recovering");
  const exercise = await Exercise.begin(world, options, voice);
  await Promise.all(Array.from({ length: WRITERS }, () => exercise.write()));
  await exercise.end();
  lock.release();
}

function lockHome(world: World, home: string) {
  const path = lockPath(home);
  makeDirectories(world.disk, parentOf(path));
  const { pid } = world.processes;
  const owner = identify(world.processes, pid) ?? { pid, startTime: 0, bootId: "" };
  const lock = takeLock(world, path, owner);
  if (!lock.ok) throw new Refused(lock.error);
  return lock.value;
}

type Core = { readonly log: EventLog; readonly tape: Tape; readonly stores: Readonly<Record<StoreName, Store>> };

class Exercise {
  private readonly options: RunOptions;
  private readonly voice: Voice;
  private readonly log: EventLog;
  private readonly tape: Tape;
  /** Where this life's part of the tape begins: earlier bytes were promised by earlier lives, or not at all. */
  private readonly tapeFrom: number;
  private readonly stores: Core["stores"];
  private failed = false;
  private next: number;
  private total: number;

  static async begin(world: World, options: RunOptions, voice: Voice): Promise<Exercise> {
    const { home } = options;
    const log = await EventLog.open({ ...world, home }, LOG);
    const { replayed, torn, lost, frozen } = log.report;
    voice.say(`recovered ${log.durable} events: ${JSON.stringify({ replayed, torn: torn.length, lost, frozen })}`);
    const place = { ...world, home };
    const stores = { backup: Store.find("backup", place), history: Store.find("history", place) };
    const tape = Tape.open(world.disk, tapePath(home), { ...TAPE, home });
    return new Exercise(options, voice, { log, tape, stores });
  }

  private constructor(options: RunOptions, voice: Voice, { log, tape, stores }: Core) {
    this.options = options;
    this.voice = voice;
    this.log = log;
    this.tape = tape;
    this.tapeFrom = tape.end;
    this.stores = stores;
    this.next = nextId(log);
    this.total = log.durable;
  }

  /** One of several writers: transaction after transaction, until there are enough events. */
  async write(): Promise<void> {
    while (this.total < this.options.events) {
      const answer = this.append();
      if (answer === "busy") await this.log.room();
      else await this.acknowledge(answer.id, answer.ticket);
    }
  }

  private append(): "busy" | { readonly id: number; readonly ticket: Ticket } {
    const id = this.next;
    const entries = transaction(this.options.seed, id);
    const answer = this.log.append(entries);
    if (!answer.ok && answer.error.code === "log.busy") return "busy";
    if (!answer.ok) throw new Refused(answer.error);
    this.next += 1; // R1
    this.total += entries.length;
    return { id, ticket: answer.value };
  }

  private async acknowledge(id: number, { first, last, durable }: Ticket): Promise<void> {
    await durable;
    this.tell({ kind: "transaction", id, seed: this.options.seed, first, last });
    if (id % 5 === 0) await this.failing(() => this.record(id)); // R2
    if (id % 16 === 0) await this.failing(() => this.save("backup"));
    if (id % 16 === 8) await this.failing(() => this.save("history"));
    if (id % 50 === 49) await this.failing(() => this.log.drain());
  }

  /** Not async: a failed append is known at once. */
  private record(id: number): Promise<void> {
    this.tape.append(tapeBytes(this.tape.end, tapeLength(this.options.seed, id)));
    const to = this.tape.end;
    return this.tape.sync().then(() => this.tell({ kind: "tape", from: this.tapeFrom, to }));
  }

  private async save(store: StoreName): Promise<void> {
    const number = await this.stores[store].save(this.options.seed, this.log.durable);
    this.tell({ kind: "checkpoint", store, number, seed: this.options.seed });
  }

  /** R3, at once: others that wait for the same batch have their turn before the failure has made its way up. */
  private async failing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.failed = true;
      throw error;
    }
  }

  private tell(ack: Ack): void {
    if (!this.failed) this.voice.tell(ack);
  }

  async end(): Promise<void> {
    for (const name of STORES) await this.save(name);
    await this.record(this.next);
    this.tape.close();
    await this.log.close();
    this.voice.say(`done: ${this.total} events`);
  }
}

/** A checkpoint store and how far its numbers have come. */
class Store {
  private readonly store: ReturnType<typeof storeOf>;
  private number: number;

  static find(name: StoreName, place: Parameters<typeof storeOf>[1]): Store {
    const store = storeOf(name, place);
    const loaded = store.load();
    if (loaded.kind === "refused") throw new Refused(loaded.refusal);
    return new Store(store, loaded.kind === "none" ? 0 : numberIn(loaded.checkpoint.body, "number"));
  }

  private constructor(store: ReturnType<typeof storeOf>, number: number) {
    this.store = store;
    this.number = number;
  }

  async save(seed: number, seq: number): Promise<number> {
    this.number += 1;
    const number = this.number;
    const saved = await this.store.save(checkpointBody(seed, number), seq);
    if (!saved.ok) throw new Refused(saved.error);
    return number;
  }
}

/** One more than the highest id in the log. */
function nextId(log: EventLog): number {
  let next = 0;
  for (const session of log.sessions) {
    for (const reading of log.read(session)) {
      if (reading.kind === "entry") next = Math.max(next, numberIn(reading.entry.data, "id") + 1);
    }
  }
  return next;
}

/** The number of `key` in `from`; −1 if there is none: `verify` will report it. */
export function numberIn(from: unknown, key: string): number {
  if (typeof from !== "object" || from === null) return -1;
  const found: unknown = Object.getOwnPropertyDescriptor(from, key)?.value;
  return typeof found === "number" && Number.isSafeInteger(found) ? found : -1;
}
