// The command tree. It is loaded at every start, so it only names the commands: their code is loaded when chosen.
import { buildApplication, buildRouteMap, help, text_en, version } from "@stricli/core";
import about from "../../package.json" with { type: "json" };
import { permissionRoutes } from "./agent/permission-routes.ts";
import { providerRoutes } from "./agent/provider-routes.ts";
import { agentRoutes } from "./agent/routes.ts";
import type { Context } from "./command-world.ts";
import { logRoutes } from "./log/routes.ts";
import { notifyRoutes } from "./notify/routes.ts";
import { relayRoutes } from "./relay/routes.ts";
import { drillRoutes } from "./system/drill-routes.ts";
import { pageRoutes } from "./system/page-routes.ts";
import { systemRoutes } from "./system/routes.ts";
import { terminalRoutes } from "./terminal/routes.ts";
import { adoptRoutes } from "./tmux/routes.ts";
import { topRoutes } from "./top/routes.ts";
import { type Group, topHelp } from "./top-help.ts";
import { tunnelRoutes } from "./tunnel/routes.ts";
import { workflowRoutes } from "./workflow/routes.ts";

const FORMATTING = {
  useAliasInUsageLine: false,
  onlyRequiredInUsageLine: false,
  caseStyle: "convert-camel-to-kebab",
} as const;

/** As git measures it, but no word is suggested that has little in common with what was typed. */
const NEAR = { threshold: 3, weights: { insertion: 1, deletion: 3, substitution: 2, transposition: 0 } };

const TEXT: typeof text_en = {
  ...text_en,
  briefs: { ...text_en.briefs, argumentEscapeSequence: "Everything after it is an argument" },
  noCommandRegisteredForInput: ({ input, corrections }) =>
    `Unknown command ${input}.${corrections.length === 0 ? "" : ` Did you mean ${corrections.join(" or ")}?`}`,
};

const routes = {
  ...terminalRoutes,
  ...adoptRoutes,
  ...workflowRoutes,
  ...agentRoutes,
  ...permissionRoutes,
  ...topRoutes,
  ...providerRoutes,
  ...systemRoutes,
  ...pageRoutes,
  ...tunnelRoutes,
  ...notifyRoutes,
  ...drillRoutes,
  ...relayRoutes,
  log: logRoutes,
};

/** The part of `holdfast --help` that lists it; undefined for commands that programs call. */
const GROUPS: Readonly<Record<keyof typeof routes, Group | undefined>> = {
  new: "Terminals",
  attach: "Terminals",
  ls: "Terminals",
  send: "Terminals",
  history: "Terminals",
  tail: "Terminals",
  replay: "Terminals",
  wait: "Terminals",
  kill: "Terminals",
  rename: "Terminals",
  move: "Terminals",
  rm: "Terminals",
  adopt: "Terminals",
  run: "Workflows",
  workflows: "Workflows",
  resume: "Workflows",
  cancel: "Workflows",
  dlq: "Workflows",
  checkpoints: "Workflows",
  migrate: "Workflows",
  agent: "Agents",
  prompts: "Agents",
  answer: "Agents",
  rules: "Agents",
  top: "Agents",
  providers: "Agents",
  recovery: "Recovery",
  restore: "Recovery",
  "safe-mode": "Recovery",
  drill: "Recovery",
  up: "System",
  down: "System",
  open: "System",
  devices: "System",
  page: "System",
  pair: "System",
  tunnel: "System",
  notify: "Agents",
  relay: "System",
  status: "System",
  doctor: "System",
  logs: "System",
  log: "System",
  config: "System",
  reload: "System",
  service: "System",
  gc: "System",
  usage: "System",
  search: "System",
  completions: "System",
  __complete: undefined,
  __ready: undefined,
};

const FACTS = [
  "Data goes to stdout, messages to stderr; --json prints data as one JSON value, and errors as JSON on stderr.",
  "Exit codes: 0 ok, 1 failed, 2 usage, 3 waiting for a person, 4 not found, 5 already answered,",
  "75 try later, 77 only the operator may do this (docs/AGENTS.md), 124 the time is up.",
  "The home is HOLDFAST_HOME, or holdfast in the XDG state directory (~/.local/state).",
];

const plain = buildRouteMap<keyof typeof routes, Context>({
  routes,
  docs: {
    hideRoute: { __complete: true, __ready: true },
    brief: about.description,
    fullDescription: [`${about.description}.`, "", ...FACTS].join("\n"),
  },
});

const root = { ...plain, formatHelp: () => topHelp(about, { routes, groups: GROUPS, facts: FACTS }) };

export const app = buildApplication<Context>(
  root,
  {
    name: about.name,
    scanner: { caseStyle: "allow-kebab-for-camel", allowArgumentEscapeSequence: true, distanceOptions: NEAR },
    documentation: { ...FORMATTING, disableAnsiColor: true },
    localization: { text: TEXT },
  },
  {
    help: help({ brief: "Show help", defaultForRouteMap: true, formatting: FORMATTING }),
    version: version({ brief: "Show the version", info: { currentVersion: about.version } }),
  },
);
