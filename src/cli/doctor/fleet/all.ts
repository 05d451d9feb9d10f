// All checks of the fleet. Loaded only on a host that is in one.
// FC1. While the database does not answer, what needs no answer is checked all the same.
import { joinPath } from "../../../base/path.ts";
import type { Result } from "../../../base/result.ts";
import { FleetSeal } from "../../../fleet/seal.ts";
import { postgresTarget } from "../../../fleet/target.ts";
import { hostLock, readHostId } from "../../../home/fleet-host.ts";
import { idOf } from "../../../home/identity.ts";
import { STANDBY_LOCK } from "../../../home/layout.ts";
import { lockOwner } from "../../../home/lock-record.ts";
import { readStandbyStatus } from "../../../home/standby-status.ts";
import { readWanted } from "../../../home/wanted.ts";
import type { Config } from "../../../wire/files/config-schema.ts";
import type { StatusResult } from "../../../wire/rpc/rpc.ts";
import { type Finding, problem, type Site } from "../check.ts";
import { daemonStatus } from "../daemon.ts";
import { type Asked, askDatabase } from "./ask.ts";
import { checkConnection, checkDatabase, checkDatabaseClock, checkFailOver, checkSchema } from "./database.ts";
import { checkFleetHome, checkKey } from "./home.ts";
import { checkAnnounced, checkMirrors, checkProgram, checkShipping, type StandbySeen } from "./standby.ts";
import { checkHomesRoom, checkTakeover } from "./takeover.ts";

type Settings = Config["fleet"];

export async function checkAll(site: Site, config: Settings): Promise<readonly Finding[]> {
  const { world, home } = site;
  const target = postgresTarget(config.url, { disk: world.disk, environment: world.self.environment() });
  if (!target.ok) {
    const { message, hint } = target.error;
    const wrong = problem("fleet-database", { what: "[fleet] url cannot be used", why: message, next: hint });
    return [wrong, ...(await checkHere(site, config, undefined))];
  }
  const asked = await askDatabase(site, target.value, idOf({ disk: world.disk, home }) ?? "");
  return [
    checkDatabase(asked),
    checkConnection(target.value.hosts),
    ...(asked.ok ? [checkSchema(asked.value.schema), checkDatabaseClock(asked.value), checkFailOver(asked.value)] : []),
    ...(await checkHere(site, config, found(asked))),
  ];
}

function found(asked: Result<Asked>): Asked | undefined {
  return asked.ok && asked.value.schema.ok ? asked.value : undefined;
}

/** FC1 */
async function checkHere(site: Site, config: Settings, asked: Asked | undefined): Promise<readonly Finding[]> {
  const { disk, random } = { ...site.world };
  const { home } = site;
  const status = await daemonStatus(site.world, home);
  const row = asked?.homes.find(({ id }) => id === idOf({ disk, home }));
  const host = readHostId({ disk, homes: config.homes });
  const standby = standbySeen(site, config, status);
  return [
    checkKey(config.keyFile, FleetSeal.read({ disk, random }, config.keyFile), asked?.batches),
    checkFleetHome({ status, row, wanted: readWanted(disk, home) }),
    checkProgram(standby),
    ...(asked === undefined ? [] : announced(asked, config, host, standby)),
    ...checkShipping(standby),
    ...checkMirrors(standby),
    ...checkTakeover(config, { row, hosts: asked?.hosts ?? [], host }),
    ...checkHomesRoom(site, config),
  ];
}

function announced(asked: Asked, { leaseS }: Settings, host: string | undefined, standby: StandbySeen): Finding[] {
  return checkAnnounced(
    asked.hosts.find(({ id }) => id === host),
    leaseS,
    standby.actingPid,
  );
}

function standbySeen({ world, home }: Site, { homes }: Settings, status: StatusResult | undefined): StandbySeen {
  const { disk, processes, clock } = world;
  const livingPid = (path: string) => {
    const owner = lockOwner(disk, path);
    return owner !== undefined && processes.alive(owner) ? owner.pid : undefined;
  };
  return {
    now: clock.now(),
    pid: livingPid(joinPath(home, STANDBY_LOCK)),
    actingPid: livingPid(hostLock({ disk, homes })),
    status: readStandbyStatus({ disk, home }),
    isWanted: readWanted(disk, home) === "up",
    isOwner: status?.fleet?.role === "owner",
  };
}
