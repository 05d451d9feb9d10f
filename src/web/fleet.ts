// The fleet of this home, for the page: who else is there, and what each home shows of itself.
// WF1. The database is asked by this program, never by a browser. Neither its address nor the password nor the key is
//      in any answer: what does not work is said in words of ours.
// WF2. Pages that ask at the same time share an answer. When none has asked for a while, the connection is let go.
// WF3. Without `[fleet]` there is nothing to show, and no database client is loaded.
import { ok, type Result, refused } from "../base/result.ts";
import { fitting } from "../wire/check.ts";
import { FLEET_HOME, type WebFleet, type WebFleetHome } from "../wire/page/messages.ts";
import type { FleetReader, FleetWorld, HomeSeen } from "./fleet-reader.ts";
import { once } from "./once.ts";

/** WF2. A look is one statement or two. */
const SHARED_MS = 2_000;
const IDLE_MS = 60_000;

export type FleetView = {
  /** Null: this host is in no fleet. */
  list(): Promise<Result<WebFleet | null>>;
  home(params: object): Promise<Result<WebFleetHome>>;
};

export function fleetView(world: FleetWorld): FleetView {
  const seen = once(world.clock, SHARED_MS, reading(world));
  return {
    list: async () => {
      const found = await seen();
      if (!found.ok) return found;
      const at = new Date(world.clock.now()).toISOString();
      return ok(found.value && { at, homes: found.value.map(({ listing: _, ...home }) => home) });
    },
    home: async (params) => {
      const wanted = fitting(FLEET_HOME, params)?.home;
      const found = await seen();
      if (!found.ok) return found;
      const home = found.value?.find(({ id }) => id === wanted);
      if (home === undefined) return refused("unknown", "There is no such home in the fleet.", "`holdfast fleet ls`");
      return ok({ at: new Date(world.clock.now()).toISOString(), ...home });
    },
  };
}

/** WF2, WF3. Null without a fleet. */
function reading(world: FleetWorld): () => Promise<Result<readonly HomeSeen[] | null>> {
  let reader: { readonly of: string; readonly made: FleetReader } | undefined;
  let cancel: () => void = () => undefined;
  const drop = () => {
    reader?.made.close();
    reader = undefined;
  };
  return async () => {
    const config = world.fleet();
    if (config === undefined || config.url === "") return ok(null);
    cancel();
    cancel = world.clock.after(IDLE_MS, drop);
    const { FleetReader } = await import("./fleet-reader.ts"); // WF3
    const of = JSON.stringify(config);
    if (reader?.of !== of) {
      drop();
      const made = FleetReader.of(world, config);
      if (!made.ok) return made;
      reader = { of, made: made.value };
    }
    return reader.made.look();
  };
}
