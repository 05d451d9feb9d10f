// The standby program of one home: its guard, its files, and, if it is the one that acts for the host, all other homes.
// SB1. A home that was taken over looks after itself only. Which one that is, its place says: it is in `[fleet] homes`.
// SB2. One program acts for a host: the one that holds the lock there. Others wait for it; when its process ends,
//      however that is, the next one goes on where it was.
// SB3. Whatever is slow has a connection of its own: the watch must not wait for anything.
import { joinPath, parentOf } from "../base/path.ts";
import type { Refusal } from "../base/result.ts";
import { naming } from "../core/fleet/naming.ts";
import { Database } from "../fleet/database.ts";
import { readFenced } from "../home/fleet-files.ts";
import { hostLock, isTakenOver, keepHostId } from "../home/fleet-host.ts";
import { IDENTITY } from "../home/layout.ts";
import { makeDirectories } from "../log/file/file.ts";
import { readJson } from "../log/file/json-file.ts";
import { takeLock } from "../log/file/lock.ts";
import type { Config } from "../wire/files/config-schema.ts";
import type { Postgres, PostgresTarget } from "../world/postgres.ts";
import { identify } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { HandOver } from "./hand-over.ts";
import { Mirrors } from "./mirrors.ts";
import { OwnHome } from "./own-home.ts";
import type { HomeFiles, HostFacts, OwnDaemon, OwnLister, OwnShipper, StandbyPorts } from "./ports.ts";
import { Revival } from "./revival.ts";
import type { StatusFile } from "./status.ts";
import { Takings } from "./takings.ts";
import { Watcher } from "./watcher.ts";

export type StandbyWorld = World & { readonly postgres: Postgres };

export type StandbySettings = {
  readonly world: StandbyWorld;
  readonly home: string;
  readonly config: Config["fleet"];
  readonly hostName: string;
  /** Where ssh of other hosts finds this one. */
  readonly address: string;
  readonly target: PostgresTarget;
  files(database: Database): HomeFiles;
  shipper(database: Database): OwnShipper;
  lister(database: Database): OwnLister;
  start(directory: string): Promise<Refusal | undefined>;
  readonly daemon: OwnDaemon;
  /** Stops what runs for the home, or lets it go on. */
  leave(isLeaving: boolean): void;
  say(words: string): void;
  broken(error: unknown): void;
  readonly status: StatusFile;
};

type Closing = () => void;

/** A round may end every second; its time is written less often. */
const SHIPPED_MS = 10_000;

/** Returns how to stop it. */
export async function startStandby(settings: StandbySettings): Promise<Closing> {
  const { world, home, config } = settings;
  const place = { disk: world.disk, homes: config.homes };
  for (const parent of makeDirectories(world.disk, config.homes)) await world.disk.syncDirectory(parent);
  const ports = portsOf(settings, await keepHostId(place, world.random));
  const shipper = oneAtATime(settings.shipper(another(settings)));
  const own = ownHome(settings, ports, shipper);
  own.start();
  const { daemon, leave } = settings;
  const handOver = new HandOver({ ...ports, database: another(settings), home, shipper, daemon, leave });
  handOver.start();
  let forHost: Closing = () => undefined;
  if (!isTakenOver(place, home)) forHost = whenAlone(settings, () => actForHost(settings, ports)); // SB1
  return () => {
    own.close();
    handOver.close();
    forHost();
  };
}

/** A round that is asked for begins after the one that is under way: it ships what is there by then. */
function oneAtATime(shipper: OwnShipper): OwnShipper {
  let last: Promise<unknown> = Promise.resolve();
  const round = (isLast = false) => {
    const run = () => shipper.round(isLast);
    const next = last.then(run, run);
    last = next;
    return next;
  };
  return {
    round,
    get pauseMs() {
      return shipper.pauseMs;
    },
  };
}

function portsOf({ world, config, hostName, address, target, say, broken }: StandbySettings, id: string): StandbyPorts {
  const { labels, capacity, leaseS, homes, take: takes } = config;
  const host: HostFacts = { id, name: hostName, address, labels, capacity, leaseMs: leaseS * 1_000, homes, takes };
  return { world, host, database: new Database({ postgres: world.postgres, target, clock: world.clock }), say, broken };
}

/** SB3 */
function another({ world, target }: StandbySettings): Database {
  return new Database({ postgres: world.postgres, target, clock: world.clock });
}

function ownHome(settings: StandbySettings, ports: StandbyPorts, shipper: OwnShipper): OwnHome {
  const { world, home, config, status } = settings;
  let noted = Number.NEGATIVE_INFINITY;
  const shipped = (trouble: string | undefined) => {
    const isNews = trouble === undefined && world.clock.elapsed() - noted >= SHIPPED_MS;
    if (isNews) noted = world.clock.elapsed();
    const at = isNews && { shippedAt: new Date(world.clock.now()).toISOString() };
    status.set({ shipping: trouble ?? null, ...at });
  };
  const lister = settings.lister(another(settings));
  return new OwnHome({ ...ports, home, takeover: config.takeover, shipper, lister, shipped });
}

/** SB2. Runs `act` once the lock is ours. */
function whenAlone({ world, config, say }: StandbySettings, act: () => Closing): Closing {
  const path = hostLock({ disk: world.disk, homes: config.homes });
  makeDirectories(world.disk, parentOf(path));
  let close: Closing = () => undefined;
  const attempt = () => {
    const owner = identify(world.processes, world.processes.pid);
    const held = owner === undefined ? undefined : takeLock(world, path, owner);
    if (held?.ok !== true) {
      close = world.clock.after(config.leaseS * 1_000, attempt);
      return;
    }
    say("acts for this host: it watches the homes of others");
    const stop = act();
    close = () => {
      stop();
      held.value.release();
    };
  };
  attempt();
  return () => close();
}

function actForHost(settings: StandbySettings, ports: StandbyPorts): Closing {
  const { world, home, config, status, start } = settings;
  const files = settings.files(another(settings));
  const failed = (takeover: string) => status.set({ takeover });
  const doing = (words: string | undefined) => status.set({ doing: words ?? null });
  const takings = new Takings({ ...ports, files, takes: another(settings), start, doing, failed });
  const isBusy = () => takings.isBusy;
  const mirrors = new Mirrors({ ...ports, files, mirrors: naming(config.mirror), isBusy });
  const troubled = (why: string | undefined) => status.set({ database: why ?? null, mirrors: mirrors.states });
  const ownId = () => {
    const id = readJson(world.disk, joinPath(home, IDENTITY))?.["id"];
    const isElsewhere = readFenced({ disk: world.disk, home }) !== undefined;
    return typeof id === "string" && !isElsewhere ? id : undefined;
  };
  const parts = { takings, mirrors, revival: new Revival({ ...ports, start }) };
  const watcher = new Watcher({ ...ports, ...parts, takes: naming(config.take), ownHome: ownId, troubled });
  status.set({ actsForHost: true });
  watcher.start();
  return () => {
    watcher.close();
    takings.close();
  };
}
