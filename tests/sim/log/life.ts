// One life of a log in the simulated world: it is opened, used, and remembers what it promised.
import { EventLog } from "../../../src/log/event-log.ts";
import type { LogOptions } from "../../../src/log/log-options.ts";
import { SimClock } from "../clock.ts";
import type { SimDisk } from "../disk.ts";
import { check, ensure, type Issued } from "./oracle.ts";

export const HOME = "/home";

/** Small enough that a few entries fill a segment and a few segments fill the log. */
export const SMALL: LogOptions = {
  segmentBytes: 2048,
  pageBytes: 256,
  frameBytes: 500,
  maxSegments: 3,
  maxQueuedBytes: 4096,
  ballastBytes: 0,
  sessionBytes: 250,
};

export type Step =
  | { readonly kind: "append"; readonly sessions: readonly number[]; readonly size: number }
  | { readonly kind: "await" }
  | { readonly kind: "drain" }
  | { readonly kind: "idle" };

export type Memory = { readonly issued: Issued[]; acknowledged: number };

export class Life {
  readonly disk: SimDisk;
  readonly clock = new SimClock();
  readonly memory: Memory;
  readonly log: EventLog;

  private constructor(disk: SimDisk, memory: Memory, clock: SimClock, log: EventLog) {
    this.disk = disk;
    this.memory = memory;
    this.clock = clock;
    this.log = log;
  }

  /** Recovers and checks every promise of earlier lives; what is there now is promised from here on. */
  static async begin(disk: SimDisk, memory: Memory, options = SMALL): Promise<Life> {
    const clock = new SimClock();
    const log = await EventLog.open({ disk, clock, home: HOME }, options);
    const count = check(log, memory.issued, memory.acknowledged);
    return new Life(disk, { issued: memory.issued.slice(0, count), acknowledged: count }, clock, log);
  }

  async perform(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.step(step);
  }

  async step(step: Step): Promise<void> {
    if (step.kind === "append") this.append(step.sessions, step.size);
    if (step.kind === "await") await this.settled();
    if (step.kind === "drain") await this.log.drain();
    if (step.kind === "idle") {
      this.clock.advance(1000);
      await this.clock.settle();
    }
  }

  /** Issues a transaction with an entry in each session; returns false if it was refused. */
  append(sessions: readonly number[], size: number): boolean {
    const names = sessions.map((number) => `agents/${number.toString(16).padStart(4, "0")}`);
    const id = this.memory.issued.length;
    const ts = "2026-01-01T00:00:00.000Z";
    const data = { id, pad: "x".repeat(size) };
    const answer = this.log.append(names.map((session) => ({ session, ts, event: "tested", data })));
    if (!answer.ok) return false;
    this.memory.issued.push({ id, sessions: names, size });
    answer.value.durable.then(
      () => {
        ensure(this.memory.acknowledged === id, "transactions are acknowledged in order");
        this.memory.acknowledged = id + 1;
      },
      () => undefined,
    );
    return true;
  }

  async settled(): Promise<void> {
    for (let turn = 0; turn < 1000; turn += 1) {
      if (this.memory.acknowledged === this.memory.issued.length) return;
      await this.clock.settle();
    }
  }
}
