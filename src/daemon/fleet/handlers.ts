// The requests about a home's place in its fleet.
import { ok, refused } from "../../base/result.ts";
import type { DaemonPorts } from "../ports.ts";
import type { Handlers } from "../rpc-server.ts";

export const NO_FLEET = refused("no-fleet", "This home is in no fleet.", "holdfast fleet init, or holdfast fleet join");

export function fleetHandlers({ fleet, leave }: DaemonPorts): Handlers {
  return {
    /** Ends in order. The next daemon follows if the home is to move to another host (ST4 of core/fleet/start.ts). */
    "fleet.hand-over": async () => {
      if (fleet === undefined) return NO_FLEET;
      leave();
      return ok({ moving: true });
    },
  };
}
