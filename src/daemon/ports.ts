// What the daemon and its parts get from outside: access to the world, the configuration, and where they report.
import type { Refusal } from "../base/result.ts";
import type { Take } from "../fleet/calls.ts";
import type { Database } from "../fleet/database.ts";
import type { FleetSeal } from "../fleet/seal.ts";
import type { HomeWorld } from "../home/held/holder-files.ts";
import type { SafeMode } from "../home/safe-mode.ts";
import type { EventLog } from "../log/event-log.ts";
import type { Config } from "../wire/files/config-schema.ts";
import type { FleetStatus, StatusResult } from "../wire/rpc/rpc.ts";
import type { Children } from "../world/children.ts";
import type { Http, HttpClient } from "../world/http.ts";
import type { Network } from "../world/network.ts";
import type { PathSteps } from "../world/path-steps.ts";
import type { Postgres } from "../world/postgres.ts";
import type { Random } from "../world/random.ts";
import type { Self } from "../world/self.ts";
import type { Sockets } from "../world/socket.ts";
import type { Watch } from "../world/watch.ts";
import type { Bus } from "./bus.ts";
import type { LiveConfig } from "./live-config.ts";
import type { PageLimits } from "./pages.ts";

export type DaemonWorld = HomeWorld & {
  readonly sockets: Sockets;
  readonly children: Children;
  readonly random: Random;
  readonly self: Self;
  readonly watch: Watch;
  readonly paths: PathSteps;
};

export type DaemonPorts = {
  readonly world: DaemonWorld & {
    readonly http: Http;
    readonly httpClient: HttpClient;
    readonly network: Network;
    readonly subtle: SubtleCrypto;
  };
  /** As it was at the start: what does not change before the next one (wire/files/config-reload.ts). */
  readonly config: Config;
  /** The rest is read here, when it is needed: it may be another one then. */
  readonly live: LiveConfig;
  readonly version: string;
  /** Of what a list is answered with; absent: the usual ones. */
  readonly pages?: PageLimits;
  readonly bus: Bus;
  readonly safeMode: SafeMode;
  /** Undefined: the home is in no fleet. */
  readonly fleet?: DaemonFleet | undefined;
  /** The status of the other programs, and of the disk. */
  others(): Pick<StatusResult, "watchdog" | "web" | "programs" | "disk">;
  /** Ends the daemon in order; the watchdog starts the next one. */
  leave(): void;
  /** Called for a bug, or if the log has stopped for good: the process must end, and the next one reads the disk. */
  onBug(error: unknown): void;
  say(words: string): void;
};

/** What else a home does in the database of its fleet. */
export type FleetDesk = {
  readonly database: Database;
  readonly seal: FleetSeal;
  /** The id of this home, and the name of this host. */
  readonly home: string;
  readonly host: string;
  /** Undefined: the home may not be acted for now. */
  take(): Take | undefined;
  readonly labels: readonly string[];
  readonly capacity: number;
  /** Called when other hosts ask something of this home, again and again until it is answered. */
  onAsked(heard: () => void): void;
};

/** This home as a member of a fleet (fleet/member.ts). */
export type DaemonFleet = {
  /** From now on the log is in the database as well; nothing was appended yet. */
  join(log: EventLog): Promise<void>;
  status(): FleetStatus;
  desk(): FleetDesk;
  /** What everything but the status is refused with; undefined if the home is ours. */
  readonly refusal: Refusal | undefined;
  /** Before the log is closed. */
  leave(): void;
  /** After it was closed. */
  finish(): Promise<void>;
};

/** What the process of a daemon gets from outside. */
export type DaemonProgram = {
  readonly world: DaemonPorts["world"];
  /** For a home in a fleet, with the name that this machine has. */
  readonly postgres: Postgres;
  readonly hostName: string;
  /** The full path of a file that the user named. */
  absolute(path: string): string;
  say(words: string): void;
  /** Resolves when the process is asked to leave. */
  readonly told: Promise<void>;
  /** `fn` is called when the configuration should be read again (SIGHUP). */
  onReload?(fn: () => void): void;
  /** Ends the process at once. */
  exit(code: number): never;
  /** Called with the exit code, unless a signal ends the process. */
  onExit(fn: (code: number) => void): void;
};
