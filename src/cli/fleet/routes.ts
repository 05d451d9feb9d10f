// The commands of a fleet, more than one machine: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { countFlag, type DataFlags, described, flag, home, text, timeSpan } from "../flags.ts";
import type { EventFlags } from "./look.ts";
import type { MoveFlags } from "./move.ts";
import type { QueueFlags } from "./queue.ts";

const URL = {
  parse: text,
  placeholder: "url",
  brief: "The PostgreSQL, as for psql: postgres://user@host/database; the password in ~/.pgpass or PGPASSWORD",
} as const;
const HOME = { parse: text, placeholder: "home", brief: "The name of a home in the fleet, or the beginning of its id" };
const STATUS = "{home: {home, host, role, owner, epoch, leaseMs, why}, database, failOver, clockMs, homes, hosts}";
const HOMES = "{id, name, owner, leaseMs, epoch, lastSeq, snapshot, takeover, moveTo}";

const init = buildCommand<DataFlags, [string], Context>({
  loader: async () => (await import("./setup.ts")).initCommand,
  parameters: {
    flags: { home, json: flag("One JSON object {schema, key, config, host}") },
    positional: { kind: "tuple", parameters: [URL] },
  },
  docs: described(
    "Begin a fleet: hosts that share a PostgreSQL and take over each other's homes",
    "Makes the tables and the key with which everything in them is encrypted, and writes the address into the",
    "configuration. What the other hosts need is the key and the address: holdfast fleet join. docs/FLEET.md has more.",
  ),
});

const join = buildCommand<DataFlags, [string], Context>({
  loader: async () => (await import("./setup.ts")).joinCommand,
  parameters: {
    flags: { home, json: flag("One JSON object {config, host}") },
    positional: { kind: "tuple", parameters: [URL] },
  },
  docs: described(
    "Join the fleet of other hosts, with their key",
    "Copy the file with the key from one of them first, to the same place (`holdfast config show fleet`).",
  ),
});

const leave = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./setup.ts")).leaveCommand,
  parameters: { flags: { home, json: flag("One JSON object {config}") } },
  docs: described(
    "Leave the fleet: this host is alone again from its next start on",
    "Move or keep what it has first: a home that is on this host stays here, and its copy in the database is kept.",
  ),
});

const status = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./look.ts")).statusCommand,
  parameters: { flags: { home, json: flag(`One JSON object ${STATUS}`) } },
  docs: { brief: "Show this home's place in the fleet, and what a fail-over of the database would lose" },
});

const ls = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./look.ts")).lsCommand,
  parameters: { flags: { home, json: flag(`One JSON array of ${HOMES}`) } },
  docs: { brief: "List the homes of the fleet, and on which host each is" },
});

const hosts = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./look.ts")).hostsCommand,
  parameters: {
    flags: { home, json: flag("One JSON array of {id, name, labels, capacity, version, address, takes, agoMs}") },
  },
  docs: { brief: "List the hosts of the fleet, and when each was last seen" },
});

const events = buildCommand<EventFlags, [], Context>({
  loader: async () => (await import("./look.ts")).eventsCommand,
  parameters: {
    flags: {
      home,
      lines: countFlag("50", "How many of the last ones are shown"),
      follow: flag("Go on with what happens from now on"),
      json: flag("One JSON array of {n, at, home, host, kind, words}; with --follow one object a line"),
    },
    aliases: { f: "follow", n: "lines" },
  },
  docs: { brief: "Show what has happened in the fleet: takeovers, moves, failures" },
});

const MOVING = {
  home,
  timeout: {
    kind: "parsed",
    parse: timeSpan,
    default: "3m",
    placeholder: "time",
    brief: "After this long it is called off, and the home stays where it is",
  },
  detach: flag("Return at once; holdfast fleet events shows what happens"),
  json: flag("One JSON object {home, name, host, epoch}"),
} as const;

const move = buildCommand<MoveFlags, [string, string], Context>({
  loader: async () => (await import("./move.ts")).moveCommand,
  parameters: {
    flags: MOVING,
    aliases: { d: "detach" },
    positional: {
      kind: "tuple",
      parameters: [HOME, { parse: text, placeholder: "host", brief: "The name of a host" }],
    },
  },
  docs: described(
    "Move a home to another host, on purpose",
    "Its host writes everything down and hands it over; the other host continues as after a crash of the machine, but",
    "nothing was in flight. Programs in terminals stay behind, and are started again there. If the other host does not",
    "take it, it goes on where it was.",
  ),
});

const take = buildCommand<MoveFlags, [string], Context>({
  loader: async () => (await import("./move.ts")).takeCommand,
  parameters: { flags: MOVING, aliases: { d: "detach" }, positional: { kind: "tuple", parameters: [HOME] } },
  docs: described(
    "Bring a home to this host: from a host that is gone, or from one that hands it over",
    'This is how homes with takeover = "manual" are taken over. A host that lives hands its home over first.',
  ),
});

const waiting = buildCommand<QueueFlags, [], Context>({
  loader: async () => (await import("./queue.ts")).queueCommand,
  parameters: {
    flags: {
      home,
      ended: flag("Also what is done, has failed or was cancelled"),
      json: flag("One JSON array of {n, id, at, asker, kind, labels, state, home, host, words}"),
    },
  },
  docs: { brief: "List the work that waits for any host, or is done by one (run --any, agent new --any)" },
});

const cancel = buildCommand<DataFlags, [string], Context>({
  loader: async () => (await import("./queue.ts")).cancelCommand,
  parameters: {
    flags: { home, json: flag("One JSON object {id}") },
    positional: { kind: "tuple", parameters: [{ parse: text, placeholder: "id", brief: "The id that --any printed" }] },
  },
  docs: { brief: "Take work back that no host has begun" },
});

const queue = buildRouteMap({
  routes: { ls: waiting, cancel },
  defaultCommand: "ls",
  docs: { brief: "Work for any host of the fleet: list it (the default), or take it back" },
});

const fleet = buildRouteMap({
  routes: { init, join, leave, status, ls, hosts, events, move, take, queue },
  docs: {
    brief: "More than one machine, on a PostgreSQL: init, join, leave, status, ls, hosts, events, move, take, queue",
  },
});

export const fleetRoutes = { fleet };
