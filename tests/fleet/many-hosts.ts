// A thousand hosts on one database, as a list of moments: owners renew, watchers look and take by core/fleet/watch.ts.
// The database stands still or is away, processes are paused, hosts die.
// MH1. A call that is under way while the database stands still is carried out when it goes on, in any order with
//      others. While it is away, calls fail, and owners try again as late as they may.
// MH2. A process that is paused does nothing until it goes on; then it believes what it has, as real ones do.
// MH3. An owner is robbed if it was taken from although it was never paused since its last renewal.
import { backoffMs } from "../../src/base/backoff.ts";
import { Heap } from "../../src/base/heap.ts";
import {
  afterLook,
  type HomeFacts,
  isFresh,
  lookEveryMs,
  mayTake,
  NOTHING_WATCHED,
  type Watch,
} from "../../src/core/fleet/watch.ts";
import { RETRIES } from "../../src/fleet/database.ts";
import type { SimRandom } from "../sim/random.ts";

export type Trouble = { readonly from: number; readonly to: number; readonly kind: "frozen" | "away" };
export type ManyOptions = {
  readonly random: SimRandom;
  readonly hosts: number;
  readonly leaseMs: number;
  readonly forMs: number;
  readonly troubles: readonly Trouble[];
  /** How many hosts die, and how many pauses there are. */
  readonly deaths: number;
  readonly pauses: number;
  /** To plant mistakes. */
  readonly mayTake?: typeof mayTake;
  readonly isFresh?: typeof isFresh;
};

type Home = {
  readonly id: number;
  owner: number;
  epoch: number;
  leaseUntil: number;
  renewedAt: number;
  taken: number;
};
type Host = {
  readonly index: number;
  /** The homes that it watches. */
  readonly near: readonly Home[];
  watch: Watch;
  /** It is paused from and to, the last time. */
  pausedFrom: number;
  pausedTo: number;
  diesAt: number;
};
export type Taking = { readonly home: number; readonly from: number; readonly at: number; readonly leaseUntil: number };

const NEIGHBOURS = 6;
const LATENCY_MS = 40;

type Due = { readonly at: number; readonly act: () => void };

export class ManyHosts {
  readonly hosts: readonly Host[];
  readonly takings: Taking[] = [];
  readonly robbed: Taking[] = [];
  looks = 0;
  readonly #homes: readonly Home[];
  readonly #options: ManyOptions;
  readonly #moments = new Heap<Due>((one, other) => one.at < other.at);

  constructor(options: ManyOptions) {
    this.#options = options;
    const { random, hosts: count, leaseMs, forMs } = options;
    const homes = Array.from({ length: count }, (_, id) => ({
      ...{ id, owner: id, epoch: 1, leaseUntil: leaseMs, renewedAt: 0, taken: -1 },
    }));
    this.#homes = homes;
    this.hosts = homes.map(({ id }) => ({
      index: id,
      near: Array.from({ length: NEIGHBOURS }, (_, n) => homes[(id + n + 1) % count]).filter(
        (home) => home !== undefined,
      ),
      ...{ watch: NOTHING_WATCHED, pausedFrom: -1, pausedTo: -1, diesAt: Number.POSITIVE_INFINITY },
    }));
    for (let n = 0; n < options.deaths; n++) random.pick(this.hosts).diesAt = random.fraction() * forMs * 0.8;
    for (let n = 0; n < options.pauses; n++) this.#pauseLater(random.pick(this.hosts), random.fraction() * forMs);
    for (const home of homes) this.#renewLater(home, home.epoch, random.fraction() * (leaseMs / 3));
    for (const host of this.hosts) this.#lookLater(host, random.fraction() * leaseMs);
  }

  run(): void {
    for (let next = this.#moments.pop(); next !== undefined; next = this.#moments.pop())
      if (next.at <= this.#options.forMs) next.act();
  }

  get dead(): readonly Host[] {
    return this.hosts.filter(({ diesAt }) => diesAt < this.#options.forMs);
  }

  /** Homes whose host is dead, and that have watchers that live. */
  get left(): readonly Home[] {
    const now = this.#options.forMs;
    const isDead = (index: number) => (this.hosts[index]?.diesAt ?? 0) <= now;
    const watchers = (home: Home) => this.hosts.filter(({ near, index }) => near.includes(home) && !isDead(index));
    return this.#homes.filter((home) => isDead(home.owner) && watchers(home).length > 0);
  }

  #at(at: number, act: () => void): void {
    this.#moments.push({ at, act });
  }

  #pauseLater(host: Host, from: number): void {
    const ms = this.#options.random.fraction() * 4 * this.#options.leaseMs;
    this.#at(from, () => {
      host.pausedFrom = from;
      host.pausedTo = Math.max(host.pausedTo, from + ms);
    });
  }

  /** MH2. Runs when the process does; never if it is dead by then. */
  #in(host: Host, at: number, act: (now: number) => void): void {
    this.#at(at, () => {
      if (at >= host.diesAt) return;
      if (at < host.pausedTo) this.#in(host, host.pausedTo + this.#options.random.fraction(), act);
      else act(at);
    });
  }

  /** MH1. `arrived`: at the database. `failed`: it was away. */
  #call(
    host: Host,
    sentAt: number,
    arrived: (now: number) => (now: number) => void,
    failed: (now: number) => void,
  ): void {
    const latency = () => 1 + this.#options.random.fraction() * LATENCY_MS;
    const at = sentAt + latency();
    const trouble = this.#options.troubles.find(({ from, to }) => from <= at && at < to);
    if (trouble?.kind === "away") {
      this.#in(host, at + latency(), failed);
      return;
    }
    const carriedOutAt = trouble === undefined ? at : trouble.to + this.#options.random.fraction();
    this.#at(carriedOutAt, () => {
      const then = arrived(carriedOutAt); // Even if its sender is dead by now.
      this.#in(host, carriedOutAt + latency(), then);
    });
  }

  #renewLater(home: Home, epoch: number, at: number, failures = 0): void {
    const host = this.hosts[home.owner];
    if (host !== undefined) this.#in(host, at, (now) => this.#renew(home, host, { epoch, sentAt: now, failures }));
  }

  #renew(home: Home, host: Host, ask: { epoch: number; sentAt: number; failures: number }): void {
    const { epoch, sentAt, failures } = ask;
    const { leaseMs, random } = this.#options;
    const arrived = (now: number) => {
      const isOurs = home.epoch === epoch;
      if (isOurs) Object.assign(home, { leaseUntil: now + leaseMs, renewedAt: now });
      return (then: number) => {
        if (isOurs) this.#renewLater(home, epoch, Math.max(then, sentAt + leaseMs / 3));
      };
    };
    const waitMs = failures === 0 ? 0 : backoffMs(failures, random.fraction(), RETRIES);
    this.#call(host, sentAt, arrived, (now) => this.#renewLater(home, epoch, now + waitMs, failures + 1));
  }

  #lookLater(host: Host, at: number): void {
    this.#in(host, at, (sentAt) => {
      const next = sentAt + lookEveryMs(this.#options.leaseMs);
      const failed = (now: number) => this.#lookLater(host, Math.max(now, next));
      this.#call(host, sentAt, (now) => this.#seen(host, sentAt, now), failed);
    });
  }

  /** Returns what is done when the answer is here. */
  #seen(host: Host, sentAt: number, now: number) {
    const homes = host.near.map((home) => factsOf(home, now));
    return (gotAt: number) => {
      const { leaseMs, random } = this.#options;
      this.looks += 1;
      host.watch = afterLook(host.watch, { sentAt, gotAt, homes }, leaseMs, random.fraction());
      let next = sentAt + lookEveryMs(leaseMs);
      for (const facts of homes) {
        const until = this.#consider(host, facts, gotAt);
        if (until !== undefined && until > gotAt) next = Math.min(next, until);
      }
      this.#lookLater(host, Math.max(gotAt, next));
    };
  }

  #consider(host: Host, facts: HomeFacts, now: number): number | undefined {
    const us = { id: `${host.index}`, name: `${host.index}`, takes: () => true };
    const verdict = (this.#options.mayTake ?? mayTake)(host.watch, facts, us);
    if (verdict.kind === "wait") return verdict.until;
    const mayAct = this.#options.isFresh ?? isFresh;
    if (verdict.kind === "no" || !mayAct(host.watch, now, this.#options.leaseMs)) return undefined;
    const home = this.#homes[Number(facts.id)];
    if (home !== undefined)
      this.#call(
        host,
        now,
        (at) => this.#take(host, home, facts, at),
        () => undefined,
      );
    return undefined;
  }

  #take(host: Host, home: Home, facts: HomeFacts, now: number): (now: number) => void {
    const isApplied = home.epoch === facts.epoch && home.leaseUntil < now;
    if (!isApplied) return () => undefined;
    const taking = { home: home.id, from: home.owner, at: now, leaseUntil: home.leaseUntil };
    this.takings.push(taking);
    if (this.#isHealthy(home, now)) this.robbed.push(taking);
    const epoch = home.epoch + 1;
    Object.assign(home, { owner: host.index, epoch, leaseUntil: now + this.#options.leaseMs, renewedAt: now });
    return (then) => this.#renewLater(home, epoch, then);
  }

  /** MH3 */
  #isHealthy({ owner, renewedAt }: Home, now: number): boolean {
    const host = this.hosts[owner];
    return host !== undefined && host.diesAt > now && host.pausedTo < renewedAt;
  }
}

function factsOf({ id, owner, epoch, leaseUntil }: Home, now: number): HomeFacts {
  return {
    ...{ id: `${id}`, name: `${id}`, take: `${epoch}`, epoch, host: `${owner}`, lastSeq: 0, takeover: "auto" },
    ...{ leaseMs: Math.max(0, leaseUntil - now), leaseEnd: `${leaseUntil}`, moveTo: "" },
  };
}
