// `holdfast fleet move|take`: moves a home to another host, or brings it to this one.
// MV1. The wish is in the database: the programs of both hosts carry it out, and this command only watches. If it is
//      interrupted, the move goes on.
// MV2. A host that cannot take the home leaves it running where it is: after a while the wish is taken back.
import { ok, type Result, refused } from "../../base/result.ts";
import { awayMs } from "../../core/fleet/watch.ts";
import { EVENTS, type HostRow, MOVE_TO, type WatchedRow } from "../../fleet/calls.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { pause } from "../../world/wait.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { printJson, say } from "../print.ts";
import { printEvent } from "./look.ts";
import { answered, type Fleet, homeNamed, homesOf, hostsOf, onFleet } from "./reach.ts";

export type MoveFlags = DataFlags & { readonly timeout: number; readonly detach?: boolean };

const LOOK_MS = 500;

async function move(world: DaemonCommandWorld, flags: MoveFlags, home: string, host: string): Promise<Exit> {
  return wish(world, flags, home, () => host);
}

async function take(world: DaemonCommandWorld, flags: MoveFlags, home: string): Promise<Exit> {
  return wish(world, flags, home, (fleet) => fleet.host);
}

async function wish(
  world: DaemonCommandWorld,
  flags: MoveFlags,
  wanted: string,
  hostOf: (fleet: Fleet) => string,
): Promise<Exit> {
  const here = meantHome(world, flags.home);
  if (!here.ok) return here;
  const refusal = whyNotAllowed(world, here.value, "fleet move");
  if (refusal !== undefined) return { ok: false, error: refusal };
  return onFleet(world, async (fleet): Promise<Exit> => {
    const [homes, hosts] = [await homesOf(fleet), await hostsOf(fleet)];
    if (!homes.ok) return homes;
    if (!hosts.ok) return hosts;
    const home = homeNamed(homes.value, wanted);
    if (!home.ok) return home;
    const host = hostNamed(hosts.value, hostOf(fleet), home.value, fleet.config.leaseS);
    if (!host.ok) return host;
    const after = await lastEvent(fleet);
    if (!after.ok) return after;
    const asked = answered(await fleet.database.call(MOVE_TO, { home: home.value.id, host: host.value }));
    if (!asked.ok) return asked;
    if (flags.detach === true) return ok(EXIT.ok);
    return watch(world, fleet, { flags, home: home.value, host: host.value, after: after.value });
  });
}

function hostNamed(hosts: readonly HostRow[], wanted: string, home: WatchedRow, leaseS: number): Result<string> {
  const host = hosts.find(({ name }) => name === wanted);
  const names = hosts.map(({ name }) => name).join(", ");
  if (host === undefined)
    return refused("unknown", `There is no host "${wanted}" in the fleet.`, `There are: ${names}.`);
  if (host.agoMs > awayMs(leaseS * 1_000))
    return refused(
      "fleet-host",
      `${wanted} was last seen ${Math.round(host.agoMs / 1_000)} s ago.`,
      "Start it there: holdfast up",
    );
  if (home.owner === wanted && home.leaseMs > 0)
    return refused("fleet-there", `${home.name} is on ${wanted} already.`, "holdfast fleet ls");
  return ok(wanted);
}

async function lastEvent({ database }: Fleet): Promise<Result<number>> {
  for (let after = 0; ; ) {
    const next = answered(await database.call(EVENTS, { after }));
    if (!next.ok) return next;
    const last = next.value.at(-1);
    if (last === undefined) return ok(after);
    after = last.n;
  }
}

type Watched = {
  readonly flags: MoveFlags;
  readonly home: WatchedRow;
  readonly host: string;
  readonly after: number;
};

/** MV1, MV2 */
async function watch(world: DaemonCommandWorld, fleet: Fleet, watched: Watched): Promise<Exit> {
  const { flags, home, host, after } = watched;
  const until = world.clock.elapsed() + flags.timeout;
  for (let seen = after; ; await pause(world.clock, LOOK_MS)) {
    seen = await printEvents(world, fleet, { ...watched, after: seen });
    const homes = await homesOf(fleet);
    const now = homes.ok ? homes.value.find(({ id }) => id === home.id) : undefined;
    const end = now && endOf(watched, now);
    if (end === "moved") {
      const moved = { home: home.id, name: home.name, host, epoch: now?.epoch };
      if (flags.json === true) await printJson(world.console, moved);
      else await say(world.console, `${home.name} is on ${host}.`);
      return ok(EXIT.ok);
    }
    if (end === undefined && world.clock.elapsed() < until) continue;
    if (end === undefined) await fleet.database.call(MOVE_TO, { home: home.id, host: "" }); // MV2
    return calledOff(home, host);
  }
}

/** Undefined: it is under way. */
function endOf({ home, host }: Watched, now: WatchedRow): "moved" | "called off" | undefined {
  if (now.moveTo !== "") return undefined;
  if (now.owner !== host) return "called off";
  return now.epoch > home.epoch ? "moved" : undefined;
}

/** Returns the last one that was seen. */
async function printEvents(world: DaemonCommandWorld, { database }: Fleet, watched: Watched): Promise<number> {
  const { after, home, flags } = watched;
  const events = answered(await database.call(EVENTS, { after }));
  if (!events.ok) return after;
  const ours = events.value.filter((event) => event.home === home.id && flags.json !== true);
  for (const event of ours) await printEvent(world, event, false);
  return events.value.at(-1)?.n ?? after;
}

function calledOff({ name, owner }: WatchedRow, host: string) {
  return refused(
    "fleet-not-moved",
    `${name} was not moved to ${host}; it stays on ${owner}.`,
    "holdfast fleet events says why.",
  );
}

export const moveCommand = withDaemonWorld(move);
export const takeCommand = withDaemonWorld(take);
