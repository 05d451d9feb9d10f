// The commands for the page: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, described, flag, home, text, textFlag } from "../flags.ts";
import type { RevokeFlags } from "./devices.ts";
import type { ExportFlags } from "./page-export.ts";

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

const exportPage = buildCommand<ExportFlags, [string], Context>({
  loader: async () => (await import("./page-export.ts")).pageExportCommand,
  parameters: {
    flags: {
      home,
      relay: textFlag("url", "Where browsers find this home at its relay [default = as `tunnel status` shows it]"),
      json: flag("One JSON object {directory, relay}"),
    },
    positional: {
      kind: "tuple",
      parameters: [{ parse: text, placeholder: "dir", brief: "Where to; it must be empty, or an earlier export" }],
    },
  },
  docs: described(
    "Write the page to files, so that its code does not come from the relay",
    "Who serves the page's code decides what it does. If you do not control the relay, serve these files from a host of",
    "your own: the relay then only passes on what it cannot read. README.txt in the directory says how to serve them,",
    "what to tell the relay (`relay serve --allow-origin`), and how to pair devices (`pair --page`).",
  ),
});

const page = buildRouteMap({ routes: { export: exportPage }, docs: { brief: "The page as files: export" } });

export const pageRoutes = { open, devices, page };
