// `holdfast fleet status|ls|hosts|events`: what the fleet is, by its database.
import { localTime } from "../../base/local-time.ts";
import { ok, type Result } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { EVENTS, type FleetEvent, type HostRow, type WatchedRow } from "../../fleet/calls.ts";
import { dialAsking, HELLO_MS } from "../../home/dial.ts";
import type { FleetStatus } from "../../wire/rpc/rpc.ts";
import { pause } from "../../world/wait.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { count, printJson, say } from "../print.ts";
import { tableText } from "../table.ts";
import { answered, type Fleet, homesOf, hostsOf, onFleet } from "./reach.ts";
import { failOverText, serverMode } from "./server-mode.ts";

export type EventFlags = DataFlags & { readonly follow?: boolean; readonly lines: number };

const FOLLOW_MS = 1_000;
/** Older than anybody looks at. */
const MAX_EVENTS = 100_000;

type StatusShown = {
  /** Whether a daemon answers. */
  readonly running: boolean;
  readonly home: FleetStatus | null;
  readonly database: { readonly ok: boolean; readonly why: string | null };
  readonly failOver: string | null;
  readonly clockMs: number | null;
  readonly homes: number | null;
  readonly hosts: number | null;
};

async function statusOf(world: DaemonCommandWorld, home: string): Promise<Result<StatusShown>> {
  const line = await dialAsking(world, home, HELLO_MS, (client) => client.call("status", {}));
  if (line.ok) line.value?.client.close();
  const told = line.ok && line.value?.answer.ok === true ? line.value.answer.value : undefined;
  const seen = await onFleet(world, async (fleet) => {
    const mode = await serverMode(world.clock, fleet.database);
    if (!mode.ok) return mode;
    const [homes, hosts] = [await homesOf(fleet), await hostsOf(fleet)];
    if (!homes.ok) return homes;
    return hosts.ok ? ok({ ...mode.value, homes: homes.value.length, hosts: hosts.value.length }) : hosts;
  });
  if (!seen.ok && seen.error.code === "no-fleet") return seen;
  const why = seen.ok ? null : seen.error.message;
  const facts = seen.ok ? seen.value : { mode: undefined, clockMs: null, homes: null, hosts: null };
  const failOver = facts.mode === undefined ? null : failOverText(facts.mode);
  return ok({
    ...{ running: told !== undefined, home: told?.fleet ?? null, database: { ok: seen.ok, why }, failOver },
    ...{ clockMs: facts.clockMs, homes: facts.homes, hosts: facts.hosts },
  });
}

async function status(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const shown = await statusOf(world, home.value);
  if (!shown.ok) return shown;
  if (flags.json === true) await printJson(world.console, shown.value);
  else await world.console.out.write(visible(`${linesOf(shown.value).join("\n")}\n`));
  return ok(shown.value.database.ok && shown.value.home?.role === "owner" ? EXIT.ok : EXIT.failed);
}

const NOT_YET = "its daemon was started before it was in the fleet: holdfast down; holdfast up";

function linesOf({ running, home, database, failOver, clockMs, homes, hosts }: StatusShown): string[] {
  const lease = home === null ? "" : `, lease ${(home.leaseMs / 1_000).toFixed(1)} s`;
  return [
    `home         ${home?.home ?? (running ? NOT_YET : "no daemon answers: holdfast status")}`,
    ...(home === null ? [] : [`role         ${home.role} (epoch ${home.epoch}${lease})`]),
    ...(home === null
      ? []
      : [`host         ${home.host}${home.owner === home.host ? "" : `; the home is on ${home.owner}`}`]),
    `database     ${database.ok ? "answers" : `does not answer: ${database.why}`}`,
    ...(failOver === null ? [] : [`fail-over    ${failOver}`]),
    ...(clockMs === null ? [] : [`clock        ${clockMs} ms from the database's`]),
    ...(homes === null ? [] : [`fleet        ${count(homes, "home")} on ${count(hosts ?? 0, "host")}`]),
  ];
}

const HOMES_HEAD = ["NAME", "HOST", "LEASE", "EPOCH", "LOG", "TAKEOVER", "MOVES TO", "ID"];
const SHORT_ID = 12;

async function ls(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const homes = await onFleet(world, homesOf);
  if (!homes.ok) return homes;
  if (flags.json === true) await printJson(world.console, homes.value);
  else if (homes.value.length === 0) await say(world.console, "no home is in the fleet yet: holdfast up");
  else await world.console.out.write(tableText(world.console, [HOMES_HEAD, ...homes.value.map(homeRow)]));
  return ok(EXIT.ok);
}

function homeRow({ id, name, owner, leaseMs, epoch, lastSeq, takeover, moveTo }: WatchedRow): string[] {
  const lease = leaseMs > 0 ? `${(leaseMs / 1_000).toFixed(1)} s` : "ended";
  return [name, owner, lease, `${epoch}`, `${lastSeq}`, takeover, moveTo, id.slice(0, SHORT_ID)].map(visibleLine);
}

const HOSTS_HEAD = ["NAME", "SEEN", "TAKES", "LABELS", "CAPACITY", "VERSION", "ID"];

async function hosts(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const found = await onFleet(world, hostsOf);
  if (!found.ok) return found;
  if (flags.json === true) await printJson(world.console, found.value);
  else if (found.value.length === 0) await say(world.console, "no host has announced itself yet: holdfast up");
  else await world.console.out.write(tableText(world.console, [HOSTS_HEAD, ...found.value.map(hostRow)]));
  return ok(EXIT.ok);
}

function hostRow({ id, name, takes, labels, capacity, version, agoMs }: HostRow): string[] {
  const seen = `${Math.round(agoMs / 1_000)} s ago`;
  return [name, seen, takes.join(" "), labels.join(" "), `${capacity}`, version, id.slice(0, SHORT_ID)].map(
    visibleLine,
  );
}

async function events(world: DaemonCommandWorld, flags: EventFlags): Promise<Exit> {
  return onFleet(world, async (fleet): Promise<Exit> => {
    const all = await eventsAfter(fleet, 0);
    if (!all.ok) return all;
    const last = all.value.slice(-flags.lines);
    if (flags.json === true && flags.follow !== true) await printJson(world.console, last);
    else for (const event of last) await printEvent(world, event, flags.json === true);
    return flags.follow === true ? follow(world, fleet, flags, all.value.at(-1)?.n ?? 0) : ok(EXIT.ok);
  });
}

async function follow(world: DaemonCommandWorld, fleet: Fleet, flags: EventFlags, from: number): Promise<Exit> {
  for (let after = from; ; await pause(world.clock, FOLLOW_MS)) {
    const next = await eventsAfter(fleet, after);
    if (!next.ok) return next;
    for (const event of next.value) await printEvent(world, event, flags.json === true);
    after = next.value.at(-1)?.n ?? after;
  }
}

async function eventsAfter({ database }: Fleet, from: number): Promise<Result<readonly Numbered[]>> {
  const all: Numbered[] = [];
  for (let after = from; all.length < MAX_EVENTS; after = all.at(-1)?.n ?? after) {
    const next = answered(await database.call(EVENTS, { after }));
    if (!next.ok) return next;
    if (next.value.length === 0) break;
    all.push(...next.value);
  }
  return ok(all);
}

type Numbered = FleetEvent & { readonly n: number; readonly at: number };

export async function printEvent({ console }: DaemonCommandWorld, event: Numbered, json: boolean): Promise<void> {
  if (json) return printJson(console, event);
  const at = localTime(console, new Date(event.at).toISOString());
  await console.out.write(`${visibleLine(`${at}  ${event.host}  ${event.kind}  ${event.words}`)}\n`);
}

export const statusCommand = withDaemonWorld(status);
export const lsCommand = withDaemonWorld(ls);
export const hostsCommand = withDaemonWorld(hosts);
export const eventsCommand = withDaemonWorld(events);
