// Watches the homes of all other hosts, announces this one, and takes what may be taken (core/fleet/watch.ts).
// WT1. Times are those since boot: while a machine is suspended, nothing is watched.
// WT2. One look at a time, each with one question for all homes. What takes longer than a look is done beside them.
// WT3. Our own home is never watched, whatever the database says, unless another host has it.
import { isFault } from "../base/fault.ts";
import {
  afterLook,
  isFresh,
  isSilent,
  lookEveryMs,
  mayTake,
  NOTHING_WATCHED,
  type TakingHost,
  type Watch,
} from "../core/fleet/watch.ts";
import { ANNOUNCE, HOMES, type WatchedRow } from "../fleet/calls.ts";
import { whyOf } from "../fleet/database.ts";
import { VERSION } from "../wire/version.ts";
import type { Mirrors } from "./mirrors.ts";
import type { StandbyPorts } from "./ports.ts";
import type { Revival } from "./revival.ts";
import type { Takings } from "./takings.ts";

export type WatcherPorts = StandbyPorts & {
  readonly takings: Takings;
  readonly mirrors: Mirrors;
  readonly revival: Revival;
  /** Whether a pattern of this host names it. */
  takes(name: string): boolean;
  /** The id of the home that this program was started for; undefined if another host has it. */
  ownHome(): string | undefined;
  /** Why the database cannot be watched; undefined: it can. */
  troubled(why: string | undefined): void;
};

/** Looks between two announcements. */
const ANNOUNCE_EVERY = 3;

export class Watcher {
  readonly #ports: WatcherPorts;
  readonly #host: TakingHost;
  #watch: Watch = NOTHING_WATCHED;
  #looks = 0;
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(ports: WatcherPorts) {
    this.#ports = ports;
    this.#host = { id: ports.host.id, name: ports.host.name, takes: (name) => ports.takes(name) };
  }

  start(): void {
    const again = (nextMs: number) => {
      if (!this.#isClosed) this.#cancel = this.#ports.world.clock.after(nextMs, () => this.start());
    };
    const failed = (error: unknown) => {
      if (!isFault(error)) return this.#ports.broken(error);
      this.#ports.troubled(`${error.message}. ${error.hint}`);
      again(lookEveryMs(this.#ports.host.leaseMs));
    };
    void this.#look().then(again, failed);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Returns when to look again. */
  async #look(): Promise<number> {
    const { database, world, host, mirrors, troubled } = this.#ports;
    const everyMs = lookEveryMs(host.leaseMs);
    const sentAt = world.clock.sinceBoot(); // WT1
    const answer = await database.call(HOMES, undefined);
    const gotAt = world.clock.sinceBoot();
    troubled(answer.kind === "done" ? undefined : whyOf(answer));
    if (answer.kind !== "done") return everyMs;
    const homes = answer.value.filter(({ id }) => id !== this.#ports.ownHome()); // WT3
    this.#watch = afterLook(this.#watch, { sentAt, gotAt, homes }, host.leaseMs, world.random.fraction());
    mirrors.look(homes, (home) => isSilent(this.#watch, home, this.#host, host.leaseMs));
    const next = await this.#act(homes);
    if (this.#looks++ % ANNOUNCE_EVERY === 0) await this.#announce();
    return Math.max(0, Math.min(sentAt + everyMs, next) - world.clock.sinceBoot());
  }

  /** Returns when a home may be taken, if it stays as it is. */
  async #act(homes: readonly WatchedRow[]): Promise<number> {
    const { takings, revival } = this.#ports;
    await takings.look(new Map(homes.map((home) => [home.id, home])));
    let next = Number.POSITIVE_INFINITY;
    for (const home of homes) {
      const verdict = mayTake(this.#watch, home, this.#host);
      if (verdict.kind === "wait" && takings.mayTry(home.id)) next = Math.min(next, verdict.until);
      if (verdict.kind === "no" && verdict.why === "here" && !takings.has(home)) revival.look(home);
      if (verdict.kind === "take") await this.#take(home, verdict.why === "moved");
    }
    return next;
  }

  async #take(home: WatchedRow, isMove: boolean): Promise<void> {
    const { takings, world, host } = this.#ports;
    const fresh = () => isFresh(this.#watch, world.clock.sinceBoot(), host.leaseMs);
    if (takings.isBusy || !takings.mayTry(home.id) || !fresh()) return;
    await takings.begin(home, isMove, fresh);
  }

  async #announce(): Promise<void> {
    const { database, host } = this.#ports;
    const { id, name, labels, capacity, address, takes } = host;
    await database.call(ANNOUNCE, { id, name, labels, capacity, version: VERSION, address, takes });
  }
}
