// The commands of a relay: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, described, flag, numberFlag, text, textFlag, timeFlag } from "../flags.ts";
import type { LogFlags, TokenFlags } from "./commands.ts";
import type { ServeFlags } from "./serve.ts";
import type { ServiceFlags, UnitFlags } from "./service.ts";

const home = textFlag("dir", "The relay's home [default = holdfast-relay in the XDG state directory]");
const HOME = "{id, label, name, url, enrolledAt, seenAt, connected, tabs, certificateUntil, revokedAt}";

const SERVING = {
  home,
  domain: {
    kind: "parsed",
    parse: text,
    placeholder: "name",
    brief: "Browsers find each home at LABEL.NAME; a port may follow, if browsers see one",
  },
  host: {
    kind: "parsed",
    parse: text,
    placeholder: "name",
    optional: true,
    variadic: true,
    brief: "A name or address by which homes reach the relay; may be repeated [default = the domain]",
  },
  listen: textFlag("address", "Where homes connect [default = 0.0.0.0:7443]"),
  https: textFlag("address", "Where browsers connect, such as 0.0.0.0:443; with --cert and --key"),
  cert: textFlag("file", "The certificate for browsers and its chain, for *.NAME, as PEM; read again at SIGHUP"),
  key: textFlag("file", "Its key, as PEM"),
  http: textFlag("address", "Instead of --https: plain HTTP on loopback, behind a reverse proxy"),
  allowOrigin: {
    kind: "parsed",
    parse: text,
    placeholder: "url",
    optional: true,
    variadic: true,
    brief: "Where a page of `holdfast page export` is served, such as https://page.example.org; may be repeated",
  },
  life: timeFlag("How long a home's certificate is valid; it is renewed by itself [default = 30d]"),
  grace: timeFlag("How long after that it may still be renewed [default = 30d]"),
  heartbeat: timeFlag("How often both sides show that they are there [default = 15s]"),
} as const;

const serve = buildCommand<ServeFlags, [], Context>({
  loader: async () => (await import("./serve.ts")).serveCommand,
  parameters: {
    flags: SERVING,
  },
  docs: described(
    "Run a relay, through which browsers reach homes that have no open port",
    "Homes enrol with a token of `holdfast relay token`, then connect by themselves. The relay passes on what browsers",
    "and homes send each other, encrypted end to end: it cannot read it. docs/RELAY.md shows how to set one up.",
    "It runs in the foreground until a signal ends it, and can be killed at any time: enrolments and revocations are",
    "on disk before they are confirmed.",
  ),
});

const token = buildCommand<TokenFlags, [], Context>({
  loader: async () => (await import("./commands.ts")).tokenCommand,
  parameters: {
    flags: {
      home,
      name: textFlag("name", "What the home will be called [default = it says so itself]"),
      expires: timeFlag("How long the token may be used [default = 1h]"),
      json: flag("One JSON object {token, name, until}"),
    },
  },
  docs: described(
    "Print a token with which one home can enrol, once",
    "The token also names the relay's authority, so the home knows that it talks to this relay. Keep it secret until it",
    "is used. The relay keeps only a hash of it.",
  ),
});

const ls = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./commands.ts")).lsCommand,
  parameters: { flags: { home, json: flag(`One JSON array of ${HOME}`) } },
  docs: { brief: "List the homes that are enrolled, and whether they are connected" },
});

const revoke = buildCommand<DataFlags, [home: string], Context>({
  loader: async () => (await import("./commands.ts")).revokeCommand,
  parameters: {
    flags: { home, json: flag(`One JSON object ${HOME}`) },
    positional: {
      kind: "tuple",
      parameters: [{ parse: text, placeholder: "home", brief: "Its label, or its id or the beginning of it" }],
    },
  },
  docs: described(
    "Revoke a home: it is cut off at once, and has to enrol again with a new token",
    "The command returns when this is on disk. Nothing on the home itself is changed.",
  ),
});

const status = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./commands.ts")).statusCommand,
  parameters: {
    flags: {
      home,
      json: flag(
        "One JSON object {pid, home, domain, hosts, tunnel, browsers, homes, tabs, authority, certificateUntil}",
      ),
    },
  },
  docs: { brief: "Show whether the relay runs, where it listens, and how many homes and tabs are connected" },
});

const log = buildCommand<LogFlags, [], Context>({
  loader: async () => (await import("./commands.ts")).logCommand,
  parameters: {
    flags: {
      home,
      lines: numberFlag("n", "How many of the newest events to show [default = 50]"),
      json: flag("One JSON array of {seq, ts, event, data, by}"),
    },
    aliases: { n: "lines" },
  },
  docs: { brief: "Print who was enrolled, renewed, replaced and revoked, when, and from which address" },
});

const system = flag("As a service of the system, which needs root [default = of this user]");

const install = buildCommand<ServiceFlags, [], Context>({
  loader: async () => (await import("./service.ts")).serviceInstallCommand,
  parameters: {
    flags: {
      ...SERVING,
      system,
      print: flag("Only print the unit and change nothing"),
      json: flag("One JSON object {installed, unit, home, steps}"),
    },
  },
  docs: described(
    "Start the relay at boot, and let systemd restart it",
    "Takes the flags of `relay serve`, writes holdfast-relay.service, enables and starts it. `systemctl reload` makes it",
    "read the certificate for browsers again. To change something, install again.",
  ),
});

const serviceStatus = buildCommand<UnitFlags, [], Context>({
  loader: async () => (await import("./service.ts")).serviceStatusCommand,
  parameters: { flags: { system, json: flag("One JSON object {installed, unit, enabled, active, state, pid}") } },
  docs: { brief: "Show whether systemd runs the relay; exit code 1 if not" },
});

const remove = buildCommand<UnitFlags, [], Context>({
  loader: async () => (await import("./service.ts")).serviceRemoveCommand,
  parameters: { flags: { system, json: flag("One JSON object {installed, unit, steps}") } },
  docs: described(
    "Stop the relay, and start it no more",
    "Its home with every enrolment stays; `relay service install` continues with it.",
  ),
});

const service = buildRouteMap({
  routes: { install, status: serviceStatus, remove },
  docs: { brief: "The relay as a service of systemd: install, status, remove" },
});

const relay = buildRouteMap({
  routes: { serve, token, ls, revoke, status, log, service },
  docs: { brief: "A relay for homes without an open port: serve, token, ls, revoke, status, log, service" },
});

export const relayRoutes = { relay };
