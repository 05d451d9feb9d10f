// The files of homes, in the database and on this disk, as the parts of this program use them.
// FF1. Without the fleet's key nothing is shipped and nothing is made.
import { ok, type Result, refused } from "../base/result.ts";
import type { Database } from "../fleet/database.ts";
import type { Config } from "../wire/files/config-schema.ts";
import type { World } from "../world/world.ts";
import type { HomeFiles, OwnShipper } from "./ports.ts";

export type FleetFiles = {
  files(database: Database): HomeFiles;
  shipper(database: Database): OwnShipper;
};

export type FleetFilesOf = { readonly config: Config["fleet"]; readonly home: string };

const PAUSE_MS = 60_000;

export function fleetFiles(_world: World, _of: FleetFilesOf): Result<FleetFiles> {
  const missing = async () => refused("fleet-files", "Files are not shipped yet.", "They stay on this host.");
  return ok({
    files: () => ({ make: missing, mirror: missing }),
    shipper: () => ({ round: missing, pauseMs: PAUSE_MS }),
  });
}
