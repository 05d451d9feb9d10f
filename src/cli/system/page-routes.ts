// The commands for the page: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, described, flag, home, text } from "../flags.ts";
import type { RevokeFlags } from "./devices.ts";

const DEVICE = "{id, name, madeAt, usedAt, kind, rights}";

const open = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./devices.ts")).openCommand,
  parameters: { flags: { home, json: flag("One JSON object {url, until}") } },
  docs: described(
    "Print a link that lets a browser use the page",
    "The link works once, for ten minutes. It gives the browser a token of its own: `holdfast devices` lists the",
    "browsers and signs them out. One that does not use the page for 30 days is signed out by itself.",
    "Agents get no link.",
  ),
});

const ls = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./devices.ts")).devicesLsCommand,
  parameters: { flags: { home, json: flag(`One JSON array of ${DEVICE}`) } },
  docs: { brief: "List the browsers that may use the page" },
});

const revoke = buildCommand<RevokeFlags, string[], Context>({
  loader: async () => (await import("./devices.ts")).devicesRevokeCommand,
  parameters: {
    flags: { home, all: flag("All browsers"), json: flag(`One JSON array of ${DEVICE}`) },
    positional: {
      kind: "array",
      parameter: { parse: text, placeholder: "device", brief: "A browser's id, or a prefix of it" },
    },
  },
  docs: { brief: "Sign browsers out, at once" },
});

const devices = buildRouteMap({
  routes: { ls, revoke },
  docs: { brief: "Browsers that may use the page: ls, revoke" },
});

export const pageRoutes = { open, devices };
