// The files of homes, in the database and on this disk, as the parts of this program use them.
// FF1. Without the fleet's key nothing is shipped and nothing is made.
// FF2. What was fetched of a home is kept in `.host/mirrors/` of the directory for such homes: a takeover that is
//      tried again goes on from there, and one of a home that is mirrored fetches only what is new.
import { joinPath } from "../base/path.ts";
import { ok, type Result } from "../base/result.ts";
import type { Database } from "../fleet/database.ts";
import { materialise } from "../fleet/materialise.ts";
import { Mirror } from "../fleet/mirror.ts";
import { FleetSeal } from "../fleet/seal.ts";
import { Shipper } from "../fleet/ship/shipper.ts";
import type { Config } from "../wire/files/config-schema.ts";
import type { World } from "../world/world.ts";
import type { HomeFiles, OwnShipper } from "./ports.ts";

export type FleetFiles = {
  files(database: Database): HomeFiles;
  shipper(database: Database): OwnShipper;
};

export type FleetFilesOf = { readonly config: Config["fleet"]; readonly home: string };

/** FF2 */
const MIRRORS = ".host/mirrors";
/** A name in the database is nobody's path. */
const ID = /^[0-9a-f]{32}$/;

export function fleetFiles(world: World, { config, home }: FleetFilesOf): Result<FleetFiles> {
  const seal = FleetSeal.read(world, config.keyFile); // FF1
  if (!seal.ok) return seal;
  return ok({
    files: (database) => homeFiles(world, config, { database, seal: seal.value }),
    shipper: (database) => new Shipper({ ...world, home, tapeBytes: config.tapeBytes, database, seal: seal.value }),
  });
}

function homeFiles(
  world: World,
  config: Config["fleet"],
  { database, seal }: { readonly database: Database; readonly seal: FleetSeal },
): HomeFiles {
  const mirrorOf = (homeId: string) => {
    const path = joinPath(config.homes, `${MIRRORS}/${ID.test(homeId) ? homeId : "other"}`);
    return new Mirror({ disk: world.disk, database, homeId, path, step: () => undefined });
  };
  return {
    make: (wish) => materialise({ world, mirror: mirrorOf(wish.take.home), seal }, wish),
    mirror: async (home) => {
      const refreshed = await mirrorOf(home).refresh();
      return refreshed.ok ? ok(refreshed.value.seq) : refreshed;
    },
  };
}
