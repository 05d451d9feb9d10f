// What the parts of the standby program are given.
import type { Result } from "../base/result.ts";
import type { Take } from "../fleet/calls.ts";
import type { Database } from "../fleet/database.ts";
import type { World } from "../world/world.ts";

/** A home that is to be made here of what the database has. `from`: the name of the host that had it. */
export type MakeWish = { readonly take: Take; readonly directory: string; readonly from: string };

/** What the database and this disk have of homes (src/fleet/). All of it can be repeated. */
export type HomeFiles = {
  make(wish: MakeWish): Promise<Result<unknown>>;
  /** Brings the copy of a home of another host up to date; returns where its log ends. */
  mirror(home: string): Promise<Result<number>>;
  /** Removes that copy. */
  forget(home: string): Promise<Result<undefined>>;
};

/** For the home that this program was started for. */
export type OwnShipper = {
  /** `isLast`: the home is handed over after it. */
  round(isLast?: boolean): Promise<Result<unknown>>;
  readonly pauseMs: number;
};

/** Keeps what other hosts see of this home. */
export type OwnLister = {
  round(take: Take): Promise<Result<unknown>>;
  readonly pauseMs: number;
  close(): void;
};

/** The daemon of the home that this program was started for. */
export type OwnDaemon = {
  /** Undefined: there is none, or it does not answer. */
  role(): Promise<"owner" | "follower" | "waiting" | undefined>;
  /** It ends in order, and the next one follows. */
  handOver(): Promise<void>;
};

/** This host, in its fleet. */
export type HostFacts = {
  readonly id: string;
  readonly name: string;
  /** Where ssh of other hosts finds it. */
  readonly address: string;
  readonly labels: readonly string[];
  readonly capacity: number;
  readonly leaseMs: number;
  /** Patterns of the names of homes that it takes over: for others to see. */
  readonly takes: readonly string[];
  /** Where homes that are taken over are put. */
  readonly homes: string;
};

export type StandbyPorts = {
  readonly world: World;
  readonly host: HostFacts;
  /** One that nothing slow is asked of. */
  readonly database: Database;
  say(words: string): void;
  /** An error that is no Fault: a mistake of ours ends the program, and the watchdog starts it again. */
  broken(error: unknown): void;
};
