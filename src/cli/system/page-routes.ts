// The commands for the page and for searches: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import { SEARCH_IN } from "../../wire/search-in.ts";
import type { Context } from "../command-world.ts";
import { choiceFlag, countFlag, type DataFlags, described, flag, home, text, textFlag } from "../flags.ts";
import type { SearchFlags } from "../search/search.ts";
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

const HIT = "{kind, id, name, at, text, position}";

const search = buildCommand<SearchFlags, string[], Context>({
  loader: async () => (await import("../search/search.ts")).searchCommand,
  parameters: {
    flags: {
      home,
      in: choiceFlag(SEARCH_IN, "Only here"),
      count: countFlag("50", "Show at most this many"),
      json: flag(`One JSON object {hits: [${HIT}], index: {done, total} or null}`),
    },
    aliases: { n: "count" },
    positional: {
      kind: "array",
      minimum: 1,
      parameter: { parse: text, placeholder: "word", brief: "What the line, or the name, has to contain" },
    },
  },
  docs: described(
    "Find lines that terminals printed, messages, prompts, runs and names; newest first",
    "A line is shown if it contains all words; upper and lower case of a to z are the same, and a word in quotes may have",
    "spaces. A text that a program writes piece by piece, at several places of its screen, is not found as a whole.",
    "With the time of a line, `holdfast replay NAME --at TIME` shows the screen of that moment. Exits with 4 if nothing is",
    "found. The index is kept in the background ([search] in the configuration); while it is built, what is not indexed",
    "yet may be missing, and that is said.",
  ),
});

export const pageRoutes = { search, open, devices, page };
