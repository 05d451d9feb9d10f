// The claimer: takes work from the fleet's queue as long as this host has places for it, and carries it out here.
// QU1. An item is made only when its claim is committed without a doubt, under our take. It is made under its own id:
//      what was made before is found and not made again (FQ1 of core/fleet/queue.ts).
// QU2. What this home has claimed is read from the database when the daemon starts, and again whenever it is not known
//      what came of a call. So a claim whose answer was lost, or whose claimer died, is carried out by the next daemon
//      of the home, on whatever host that is.
// QU3. A claim ends when its run or agent has ended, or if it cannot be made here at all: its words are no secret.
// QU4. Nothing is claimed in safe mode, nor without a lease, nor beyond the capacity. What was claimed is kept.
import type { Result } from "../../base/result.ts";
import { placesLeft, type Work } from "../../core/fleet/queue.ts";
import type { Take } from "../../fleet/calls.ts";
import { CLAIM, CLAIMED, FINISH, type QueueItem } from "../../fleet/queue-calls.ts";
import { parseQueued, type QueuedRequest } from "../../wire/fleet/queued.ts";
import type { Clock } from "../../world/clock.ts";
import type { FleetDesk } from "../ports.ts";
import { isPassing, surely } from "./outcome.ts";

/** Between two looks at the queue of a host that has places left. */
const LOOK_MS = 2_000;

export type QueuePorts = {
  readonly desk: FleetDesk;
  readonly clock: Clock;
  /** QU4 */
  isOff(): boolean;
  /** Makes the run or the agent under this id, unless it is there. */
  make(id: string, request: QueuedRequest): Promise<Result<unknown>>;
  work(id: string, kind: string): Promise<Work>;
  say(words: string): void;
};

export class FleetQueue {
  readonly #ports: QueuePorts;
  /** QU2. Undefined: it is to be read. */
  #mine: Map<string, QueueItem> | undefined;
  #looksAt = 0;
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(ports: QueuePorts) {
    this.#ports = ports;
  }

  /** Called on every heartbeat. */
  tick(): void {
    const now = this.#ports.clock.elapsed();
    if (this.#looking !== undefined || now < this.#looksAt) return;
    this.#looksAt = now + LOOK_MS;
    this.#looking = this.look().finally(() => {
      this.#looking = undefined;
    });
    void this.#looking;
  }

  /** One look: what was claimed is attended to, and what there is room for is claimed. */
  async look(): Promise<void> {
    const { desk, isOff } = this.#ports;
    const take = this.#take();
    if (take === undefined || !(await this.#read(take))) return;
    for (const item of this.#mine?.values() ?? []) await this.#attend(item);
    while (!isOff() && placesLeft(desk.capacity, this.#mine?.size ?? desk.capacity) > 0)
      if (!(await this.#claim())) return;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#looking;
    this.#ports.desk.database.drop();
  }

  #take(): Take | undefined {
    return this.#isClosed ? undefined : this.#ports.desk.take();
  }

  /** QU2. False: it is not known now. */
  async #read(take: Take): Promise<boolean> {
    if (this.#mine !== undefined) return true;
    const { database, host } = this.#ports.desk;
    const found = surely(await database.call(CLAIMED, { take, host }));
    if (found.ok) this.#mine = new Map(found.value.map((item) => [item.id, item]));
    return found.ok;
  }

  /** QU1. False: there is nothing to claim now. */
  async #claim(): Promise<boolean> {
    const { database, host, labels } = this.#ports.desk;
    const take = this.#take();
    if (take === undefined) return false;
    const claimed = surely(await database.call(CLAIM, { take, host, labels }));
    if (!claimed.ok) this.#mine = undefined; // QU2
    if (!claimed.ok || claimed.value === undefined) return false;
    this.#mine?.set(claimed.value.id, claimed.value);
    await this.#attend(claimed.value);
    return true;
  }

  async #attend(item: QueueItem): Promise<void> {
    const work = await this.#ports.work(item.id, item.kind);
    if (work.kind === "over") await this.#finish(item, work.end, work.state);
    if (work.kind === "absent" && this.#take() !== undefined) await this.#make(item);
  }

  async #make(item: QueueItem): Promise<void> {
    const { desk, make, say } = this.#ports;
    const opened = desk.seal.openQueued(item.id, item.bytes);
    const request = opened.ok ? parseQueued(opened.value) : undefined;
    if (!opened.ok) return this.#finish(item, "failed", opened.error.code);
    if (request === undefined || request.kind !== item.kind) return this.#finish(item, "failed", "unknown request");
    const made = await make(item.id, request);
    if (made.ok || isPassing(made.error)) return;
    say(`${item.id} of the fleet's queue cannot be done here: ${made.error.message}`);
    await this.#finish(item, "failed", made.error.code);
  }

  /** QU3 */
  async #finish(item: QueueItem, state: "done" | "failed", words: string): Promise<void> {
    const take = this.#take();
    if (take === undefined) return;
    const finished = surely(await this.#ports.desk.database.call(FINISH, { take, id: item.id, state, words }));
    if (finished.ok) this.#mine?.delete(item.id);
  }
}
