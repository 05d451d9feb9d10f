// The files of homes, in the database and on this disk, as the parts of this program use them.
// FF1. Without the fleet's key nothing is shipped and nothing is made.
// FF2. The copy of a home is in `.mirror/` of the directory for homes that are taken over. A takeover reads it, and the
//      next time it is brought up to date again.
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

type Of = { readonly config: Config["fleet"]; readonly home: string };

const MIRRORS = ".mirror";
/** A name that is no plain one is nobody's path. */
const ID = /^[0-9a-zA-Z-]{1,64}$/;

export function fleetFiles(world: World, { config, home }: Of): Result<FleetFiles> {
  const read = FleetSeal.read(world, config.keyFile); // FF1
  if (!read.ok) return read;
  const seal = read.value;
  const { disk, clock } = world;
  const mirrorOf = (database: Database, homeId: string) => {
    const path = joinPath(config.homes, `${MIRRORS}/${ID.test(homeId) ? homeId : "unknown"}`); // FF2
    return new Mirror({ disk, database, homeId, path, step: () => undefined });
  };
  return ok({
    files: (database) => ({
      make: ({ take, directory, from }) =>
        materialise({ world, mirror: mirrorOf(database, take.home), seal }, { take, directory, from }),
      mirror: async (id) => {
        const done = await mirrorOf(database, id).refresh();
        return done.ok ? ok(done.value.seq) : done;
      },
    }),
    shipper: (database) => new Shipper({ disk, clock, home, tapeBytes: config.tapeBytes, database, seal }),
  });
}
