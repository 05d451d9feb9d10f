// What the parts of the watchdog need from each other, and from the program that runs them.

import type { CrashRecord } from "../home/last-crash.ts";
import type { Complain } from "../home/recovery-bus.ts";
import type { Children } from "../world/children.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Processes } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { Sockets } from "../world/socket.ts";
import type { NewsDesk } from "./news.ts";
import type { PaceLimits } from "./pace.ts";
import type { WatchSpec } from "./specs.ts";
import type { Watchdog, WatchdogLimits } from "./watchdog.ts";

export type PartWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly processes: Processes;
  readonly children: Children;
};

export type WatchdogWorld = PartWorld & { readonly sockets: Sockets };

export type WatchdogOptions = {
  /** When silent processes are ended. */
  readonly limits: WatchdogLimits;
  /** When ended ones are restarted; its `crashLoop` also decides about safe mode. */
  readonly pace: PaceLimits;
  /** How long a process may clean up when the operator wants it down, before it is killed. */
  readonly stopMs: number;
  /** For the log that people read. */
  readonly say: (text: string) => void;
  /** Resolves when we are asked to leave. */
  readonly told: Promise<void>;
  /** All of run/ was removed: what it should hold is written again. */
  readonly restore?: () => void;
  readonly news: NewsDesk;
};

export interface PartOwner {
  readonly world: PartWorld;
  readonly home: string;
  readonly watchdog: Watchdog;
  readonly pace: PaceLimits;
  readonly stopMs: number;
  readonly complain: Complain;
  say(text: string): void;
  wantsUp(): boolean;
  /** For the environment of the next start. */
  variables(spec: WatchSpec): Readonly<Record<string, string>>;
  /** Resolves when everything the next start reads is in place. */
  crashed(spec: WatchSpec, crash: CrashRecord): Promise<void>;
  /** Something did not start because the operator wants `down`. */
  toldDown(): void;
}
