// The files of homes, in the database and on this disk, as the parts of this program use them.
// FF1. Without the fleet's key nothing is shipped and nothing is made.
// FF2. The copy of a home is in `.mirror/` of the directory for homes that are taken over. A takeover reads it, also
//      when it is tried again, and removes it when the home is made.
// FF3. Before each round of shipping, what agents have outside of the home is brought in. If that fails, the rest is
//      shipped all the same.

import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { ok, type Result } from "../base/result.ts";
import type { Database } from "../fleet/database.ts";
import { HomesHere } from "../fleet/homes-here.ts";
import { Lister, type ListerPorts, type OwnLists } from "../fleet/lister.ts";
import { FleetSeal } from "../fleet/seal.ts";
import { PAUSE_FACTOR, Shipper } from "../fleet/ship/shipper.ts";
import type { Config } from "../wire/files/config-schema.ts";
import type { Children } from "../world/children.ts";
import type { Self } from "../world/self.ts";
import type { World } from "../world/world.ts";
import { Carrier } from "./carry.ts";
import { WorkCarrier } from "./carry-work.ts";
import type { HomeFiles, OwnLister, OwnShipper } from "./ports.ts";

export type FleetFiles = {
  files(database: Database): HomeFiles;
  shipper(database: Database): OwnShipper;
  lister(database: Database): OwnLister;
};

type Of = {
  readonly config: Config["fleet"];
  readonly home: string;
  readonly lists: OwnLists;
  readonly place: ListerPorts["place"];
  page(): string;
  readonly children: Children;
  readonly self: Self;
  say(words: string): void;
};

const MIRRORS = ".mirror";

export function fleetFiles(
  world: World,
  { config, home, lists, place, page, say, ...programs }: Of,
): Result<FleetFiles> {
  const read = FleetSeal.read(world, config.keyFile); // FF1
  if (!read.ok) return read;
  const seal = read.value;
  const { disk, clock } = world;
  const mirrors = joinPath(config.homes, MIRRORS); // FF2
  return ok({
    files: (database) => new HomesHere({ world, database, seal, mirrors, step: () => undefined }),
    lister: (database) => new Lister({ clock, database, seal, lists, place, page }),
    shipper: (database) => {
      const maxBytes = config.carryBytes;
      const work = new WorkCarrier({ disk, clock, home, maxBytes, say, ...programs });
      const shipper = new Shipper({ disk, clock, home, tapeBytes: config.tapeBytes, database, seal });
      return carrying(new Carrier({ disk, clock, home, maxBytes, work }), shipper, { clock, say });
    },
  });
}

type Said = { readonly clock: World["clock"]; say(words: string): void };

/** FF3 */
function carrying(carrier: Carrier, shipper: OwnShipper, { clock, say }: Said): OwnShipper {
  let carriedMs = 0;
  return {
    round: async (isLast) => {
      const begun = clock.elapsed();
      try {
        await carrier.round(isLast);
      } catch (error) {
        if (!isFault(error)) throw error;
        say(`${error.message}. ${error.hint}`);
      }
      carriedMs = clock.elapsed() - begun;
      return shipper.round();
    },
    get pauseMs() {
      return Math.max(shipper.pauseMs, PAUSE_FACTOR * carriedMs);
    },
  };
}
